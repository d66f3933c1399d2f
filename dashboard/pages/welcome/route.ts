import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { queryClient } from '../../data/client/query-client.ts';
import { meQuery } from '../../data/workspace/me.ts';
import { providersQuery } from '../../data/workspace/providers.ts';
import { appRoute } from '../../shell/routes.tsx';
import { firstStepsDone } from './first-steps.ts';

/** The home page: shows the first steps once to owners of a workspace without providers, else the agents. */
export const homeRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/',
  async beforeLoad() {
    const me = await queryClient.ensureQueryData(meQuery);
    if (me.role !== 'owner' || firstStepsDone(me)) throw redirect({ to: '/agents' });
    const providers = await queryClient.ensureQueryData(providersQuery);
    throw redirect({ to: providers.length === 0 ? '/welcome' : '/agents' });
  },
});

export const welcomeRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/welcome',
  component: lazyRouteComponent(() => import('./welcome-page.tsx'), 'WelcomePage'),
});
