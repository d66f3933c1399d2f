import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../../shell/routes.tsx';
import { readSearch } from './search.ts';

export const agentsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/agents',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import('./agents-page.tsx'), 'AgentsPage'),
});
