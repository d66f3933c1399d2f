import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../components/loading/lazy-page.ts';
import { rootRoute } from '../../shell/routes.tsx';

export const noWorkspaceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/no-workspace',
  component: lazyPage(() => import('./no-workspace-page.tsx'), 'NoWorkspacePage'),
});
