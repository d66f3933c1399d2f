import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../components/loading/lazy-page.ts';
import { appRoute } from '../../shell/routes.tsx';
import { readSearch } from './search.ts';

export const agentsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/agents',
  validateSearch: readSearch,
  component: lazyPage(() => import('./agents-page.tsx'), 'AgentsPage'),
});
