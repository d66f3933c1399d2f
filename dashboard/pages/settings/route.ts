import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { readOffset } from '../../data/client/search-params.ts';
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

const settingsHomeRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/',
  async beforeLoad() {
    throw redirect({ to: '/settings/workspace' });
  },
});

const workspaceRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/workspace',
  component: lazyRouteComponent(() => import('./workspace-page.tsx'), 'WorkspacePage'),
});

const membersRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/members',
  component: lazyRouteComponent(() => import('./members-page.tsx'), 'MembersPage'),
});

const providersRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/providers',
  component: lazyRouteComponent(() => import('./providers-page.tsx'), 'ProvidersPage'),
});

const retentionRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/retention',
  validateSearch: (given: Record<string, unknown>): OffsetSearch => readOffset(given),
  component: lazyRouteComponent(() => import('./retention-page.tsx'), 'RetentionPage'),
});

const auditRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/audit',
  validateSearch: (given: Record<string, unknown>): AuditSearch => ({
    ...readOffset(given),
    ...(/^[a-z.]{1,40}$/.test(String(given.action ?? '')) && { action: String(given.action) }),
  }),
  component: lazyRouteComponent(() => import('./audit-page.tsx'), 'AuditPage'),
});

const accountRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/account',
  component: lazyRouteComponent(() => import('./account-page.tsx'), 'AccountPage'),
});

export const settingsRoutes = settingsRoute.addChildren([
  settingsHomeRoute,
  workspaceRoute,
  membersRoute,
  providersRoute,
  retentionRoute,
  auditRoute,
  accountRoute,
]);
