import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../components/loading/lazy-page.ts';
import { agentQuery } from '../../data/agents/agents.ts';
import { readAnalyticsSearch } from '../../data/analytics/analytics-search.ts';
import { readRangeSearch } from '../../data/analytics/range-search.ts';
import { queryClient } from '../../data/client/query-client.ts';
import { readOffset } from '../../data/client/search-params.ts';
import { appRoute } from '../../shell/routes.tsx';

/** The agent's page: a header and tabs, each a child of this route. */
export const agentRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/agents/$agentId',
  loader: ({ params }) => queryClient.ensureQueryData(agentQuery(params.agentId)),
  component: lazyPage(() => import('./agent-page.tsx'), 'AgentPage'),
});

export const agentOverviewRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: '/',
  validateSearch: readRangeSearch,
  component: lazyPage(() => import('./overview-page.tsx'), 'OverviewPage'),
});

export const agentAnalyticsRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: '/analytics',
  validateSearch: readAnalyticsSearch,
  component: lazyPage(() => import('./agent-analytics-page.tsx'), 'AgentAnalyticsPage'),
});

export const agentRunRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: '/run',
  component: lazyPage(() => import('./run-page.tsx'), 'RunPage'),
});

export const agentPinsRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: '/versions',
  component: lazyPage(() => import('./pins-page.tsx'), 'PinsPage'),
});

export const agentSettingsRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: '/settings',
  component: lazyPage(() => import('./settings-page.tsx'), 'SettingsPage'),
});

export const agentBatchesRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: '/batches',
  validateSearch: readOffset,
  component: lazyPage(() => import('./batches-page.tsx'), 'BatchesPage'),
});
