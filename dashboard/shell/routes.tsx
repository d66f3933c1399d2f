import { createRootRoute, createRoute, Outlet, redirect } from '@tanstack/react-router';
import { lazyPage } from '../components/loading/lazy-page.ts';
import { isSignedOut } from '../data/client/error-status.ts';
import { queryClient } from '../data/client/query-client.ts';
import { meQuery } from '../data/workspace/me.ts';
import { DialogHost } from '../kit/dialog.tsx';
import { AppError, NotFoundPage } from './page-states.tsx';

export const rootRoute = createRootRoute({
  component: () => (
    <>
      <Outlet />
      <DialogHost />
    </>
  ),
});

/** Child routes render inside the shell and require a session. */
export const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'app',
  async beforeLoad({ location: requested }) {
    try {
      await queryClient.ensureQueryData(meQuery);
    } catch (error) {
      if (!isSignedOut(error)) throw error;
      const from = requested.href === '/' ? {} : { from: requested.href };
      throw redirect({ to: '/sign-in', search: from, replace: true });
    }
  },
  component: lazyPage(() => import('./shell.tsx'), 'Shell'),
  errorComponent: AppError,
});

/** All other paths: inside the shell, whose navigation leads on. */
export const unknownRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '$',
  component: NotFoundPage,
});
