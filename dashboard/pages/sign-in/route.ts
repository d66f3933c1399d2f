import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../shell/routes.tsx';

export interface SignInSearch {
  /** The page that was asked for. */
  readonly from?: string;
  /** Why an identity provider sent the browser back. */
  readonly error?: string;
}

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: ({ from, error }: Record<string, unknown>): SignInSearch => ({
    ...(isOwnPage(from) && { from }),
    ...(typeof error === 'string' && { error }),
  }),
  component: lazyRouteComponent(() => import('./sign-in-page.tsx'), 'SignInPage'),
});

/** A link must not be able to send someone elsewhere once they have signed in. */
function isOwnPage(from: unknown): from is string {
  return typeof from === 'string' && /^\/(?![/\\])/.test(from);
}
