import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../../shell/routes.tsx';
import { agentRoute } from '../agent/route.ts';
import { readSearch } from './search.ts';

const recordPage = lazyRouteComponent(() => import('./record-drawer.tsx'), 'RecordDrawer');

/** Executions of all agents. A record opens in a drawer with its own URL. */
export const historyRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/history',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import('./history-page.tsx'), 'HistoryPage'),
});

export const historyRecordRoute = createRoute({
  getParentRoute: () => historyRoute,
  path: '$agentId/$executionId',
  component: recordPage,
});

/** Executions of one agent, as a tab of its page. */
export const agentHistoryRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: '/history',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import('./agent-history.tsx'), 'AgentHistory'),
});

export const agentRecordRoute = createRoute({
  getParentRoute: () => agentHistoryRoute,
  path: '$executionId',
  component: recordPage,
});
