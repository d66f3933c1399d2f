import { lazyRouteComponent } from '@tanstack/react-router';
import { ComponentLoadError } from '../../data/client/upgrade.ts';

/**
 * A page loaded on its first visit. A failed import becomes a `ComponentLoadError`, which the page's error boundary
 * handles. The router's own reload would lose the page while the server is unreachable.
 */
export const lazyPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(
    () =>
      load().catch((cause: unknown) => {
        throw new ComponentLoadError('CONNECTION_FAILED', 'The page could not be loaded.', {
          cause,
        });
      }),
    name,
  );
