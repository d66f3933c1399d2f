import { createRoute, redirect } from '@tanstack/react-router';
import { lazyPage } from '../../components/loading/lazy-page.ts';
import { readOffset, toText } from '../../data/client/search-params.ts';
import { appRoute } from '../../shell/routes.tsx';

const settingsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/settings',
  component: lazyPage(() => import('./settings-page.tsx'), 'SettingsPage'),
});

export interface OffsetSearch {
  readonly offset?: number;
}

export interface AuditSearch extends OffsetSearch {
  readonly action?: string;
  readonly userId?: string;
  /** An identifier or a name. */
  readonly subject?: string;
  readonly startDate?: string;
  readonly endDate?: string;
}

/** Drops invalid values: a mistyped URL shows more entries, not an error. */
function readAuditSearch(given: Record<string, unknown>): AuditSearch {
  const text = (name: keyof AuditSearch, isValid: (value: string) => boolean) => {
    const value = given[name] === undefined ? '' : toText(given[name]);
    return value !== '' && isValid(value) ? { [name]: value } : {};
  };
  const isTime = (value: string) => value.length <= 40 && !Number.isNaN(Date.parse(value));
  return {
    ...readOffset(given),
    ...text('action', (value) => /^[a-zA-Z.]{1,40}$/.test(value)),
    ...text('userId', (value) => /^usr_[0-9a-z]{26}$/.test(value)),
    ...text('subject', (value) => value.length <= 200),
    ...text('startDate', isTime),
    ...text('endDate', isTime),
  };
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
  component: lazyPage(() => import('./workspace/workspace-page.tsx'), 'WorkspacePage'),
});

const membersRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/members',
  component: lazyPage(() => import('./members/members-page.tsx'), 'MembersPage'),
});

export interface ProvidersSearch {
  /** Opens the form for the price of this model. */
  readonly priceOf?: string;
  /** Opens the form of this provider, or one for a new provider of this name. */
  readonly provider?: string;
}

function readProvidersSearch({ priceOf, provider }: Record<string, unknown>): ProvidersSearch {
  return {
    ...(typeof priceOf === 'string' && priceOf !== '' && { priceOf: priceOf.slice(0, 256) }),
    ...(typeof provider === 'string' && /^[\w.-]{1,64}$/.test(provider) && { provider }),
  };
}

const providersRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/providers',
  validateSearch: readProvidersSearch,
  component: lazyPage(() => import('./providers/providers-page.tsx'), 'ProvidersPage'),
});

const toolServersRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/tool-servers',
  component: lazyPage(() => import('./tool-servers/tool-servers-page.tsx'), 'ToolServersPage'),
});

const endpointsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/endpoints',
  component: lazyPage(() => import('./endpoints/endpoints-page.tsx'), 'EndpointsPage'),
});

const endpointRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/endpoints/$endpointId',
  component: lazyPage(() => import('./endpoints/endpoint-page.tsx'), 'EndpointPage'),
});

const alertsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/alerts',
  component: lazyPage(() => import('./alerts/alerts-page.tsx'), 'AlertsPage'),
});

const budgetsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/budgets',
  component: lazyPage(() => import('./budgets/budgets-page.tsx'), 'BudgetsPage'),
});

const retentionRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/retention',
  validateSearch: (given: Record<string, unknown>): OffsetSearch => readOffset(given),
  component: lazyPage(() => import('./retention/retention-page.tsx'), 'RetentionPage'),
});

const auditRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/audit',
  validateSearch: readAuditSearch,
  component: lazyPage(() => import('./audit/audit-page.tsx'), 'AuditPage'),
});

const accountRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/account',
  component: lazyPage(() => import('./account/account-page.tsx'), 'AccountPage'),
});

export const settingsRoutes = settingsRoute.addChildren([
  settingsHomeRoute,
  workspaceRoute,
  membersRoute,
  providersRoute,
  toolServersRoute,
  endpointsRoute,
  endpointRoute,
  alertsRoute,
  budgetsRoute,
  retentionRoute,
  auditRoute,
  accountRoute,
]);
