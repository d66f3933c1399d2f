import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { appRoute } from '../../shell/routes.tsx';

const settingsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/settings',
  component: lazyRouteComponent(() => import('./settings-page.tsx'), 'SettingsPage'),
});

export interface OffsetSearch {
  readonly offset?: number;
}

export interface AuditSearch extends OffsetSearch {
  readonly action?: string;
}

function readOffset(given: Record<string, unknown>): OffsetSearch {
  const offset = Number(given.offset);
  return Number.isSafeInteger(offset) && offset > 0 ? { offset } : {};
}

const shared = { getParentRoute: () => settingsRoute };

export const settingsRoutes = settingsRoute.addChildren([
  createRoute({
    ...shared,
    path: '/',
    beforeLoad(): void {
      throw redirect({ to: '/settings/workspace' });
    },
  }),
  createRoute({
    ...shared,
    path: '/workspace',
    component: lazyRouteComponent(() => import('./workspace-page.tsx'), 'WorkspacePage'),
  }),
  createRoute({
    ...shared,
    path: '/members',
    component: lazyRouteComponent(() => import('./members-page.tsx'), 'MembersPage'),
  }),
  createRoute({
    ...shared,
    path: '/providers',
    component: lazyRouteComponent(() => import('./providers-page.tsx'), 'ProvidersPage'),
  }),
  createRoute({
    ...shared,
    path: '/retention',
    validateSearch: readOffset,
    component: lazyRouteComponent(() => import('./retention-page.tsx'), 'RetentionPage'),
  }),
  createRoute({
    ...shared,
    path: '/audit',
    validateSearch: (given: Record<string, unknown>): AuditSearch => ({
      ...readOffset(given),
      ...(/^[a-z.]{1,40}$/.test(String(given.action ?? '')) && { action: String(given.action) }),
    }),
    component: lazyRouteComponent(() => import('./audit-page.tsx'), 'AuditPage'),
  }),
  createRoute({
    ...shared,
    path: '/account',
    component: lazyRouteComponent(() => import('./account-page.tsx'), 'AccountPage'),
  }),
]);
