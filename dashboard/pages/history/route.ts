import { createRoute, redirect } from '@tanstack/react-router';
import { lazyPage } from '../../components/loading/lazy-page.ts';
import { appRoute } from '../../shell/routes.tsx';
import { agentRoute } from '../agent/route.ts';
import { readSearch } from './search.ts';

/** Executions of all agents. The side panel is a search parameter. */
export const executionsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/history',
  validateSearch: readSearch,
  component: lazyPage(() => import('./history-page.tsx'), 'HistoryPage'),
});

/** The words of the search that found it are marked. */
const validateSearch = ({ q }: Record<string, unknown>): { readonly q?: string } =>
  typeof q === 'string' ? { q } : {};

/** The page of one execution. */
export const executionRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/history/$agentId/$executionId',
  validateSearch,
  component: lazyPage(() => import('./execution-page.tsx'), 'ExecutionPage'),
});

/** Two executions: `agt_…/exe_…`. */
export interface ComparisonSearch {
  readonly before?: string;
  readonly after?: string;
}

export const comparisonRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/history/compare',
  validateSearch: ({ before, after }: Record<string, unknown>): ComparisonSearch => ({
    ...(typeof before === 'string' && { before }),
    ...(typeof after === 'string' && { after }),
  }),
  component: lazyPage(() => import('./comparison-page.tsx'), 'ComparisonPage'),
});

/** Executions of one agent, as a tab of its page. */
export const agentExecutionsRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: '/history',
  validateSearch: readSearch,
  component: lazyPage(() => import('./agent-history-page.tsx'), 'AgentHistoryPage'),
});

/** An execution has one page; links to it below its agent lead there. */
export const agentExecutionRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: '/history/$executionId',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/history/$agentId/$executionId', params, replace: true });
  },
});
