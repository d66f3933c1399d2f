import { createRootRoute, createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { chooseWorkspace, chosenWorkspace } from '../data/client.ts';
import { meQuery } from '../data/me.ts';
import { isSignedOut, queryClient } from '../data/query-client.ts';

export const rootRoute = createRootRoute();

/** What stands below it is shown inside the shell, and only to someone who is signed in. */
export const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'app',
  async beforeLoad({ location: asked }) {
    try {
      await queryClient.ensureQueryData(meQuery);
    } catch (error) {
      if (!isSignedOut(error)) throw error;
      // Perhaps only of the workspace that was chosen they are a member no more: without the choice it shows.
      if (chosenWorkspace() !== null) {
        chooseWorkspace(null);
        location.reload();
        await new Promise(() => {});
      }
      const from = asked.href === '/' ? {} : { from: asked.href };
      throw redirect({ to: '/sign-in', search: from, replace: true });
    }
  },
  component: lazyRouteComponent(() => import('./shell.tsx'), 'Shell'),
});
