import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../shell/routes.tsx';

export const noWorkspaceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/no-workspace',
  component: lazyRouteComponent(() => import('./no-workspace-page.tsx'), 'NoWorkspacePage'),
});
