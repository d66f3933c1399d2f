import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../components/loading/lazy-page.ts';
import { rootRoute } from '../../shell/routes.tsx';

export const invitationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invitations/$token',
  component: lazyPage(() => import('./invitation-page.tsx'), 'InvitationPage'),
});
