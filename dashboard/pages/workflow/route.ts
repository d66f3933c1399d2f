import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../data/client/query-client.ts';
import { readVersionsSearch } from '../../data/prompts/versions-search.ts';
import { workflowQuery } from '../../data/workflows/workflows.ts';
import { appRoute } from '../../shell/routes.tsx';
import { readRunsSearch } from './search.ts';

/** The workflow's page: a header and tabs. */
export const workflowRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/workflows/$workflowId',
  loader: ({ params }) => queryClient.ensureQueryData(workflowQuery(params.workflowId)),
  component: lazyRouteComponent(() => import('./workflow-page.tsx'), 'WorkflowPage'),
});

/** The selected step. */
export interface StepSearch {
  readonly step?: string;
}

const stepSearch = ({ step }: Record<string, unknown>): StepSearch =>
  typeof step === 'string' ? { step } : {};

export const workflowOverviewRoute = createRoute({
  getParentRoute: () => workflowRoute,
  path: '/',
  validateSearch: stepSearch,
  component: lazyRouteComponent(() => import('./overview-page.tsx'), 'OverviewPage'),
});

export const workflowRunsRoute = createRoute({
  getParentRoute: () => workflowRoute,
  path: '/runs',
  validateSearch: readRunsSearch,
  component: lazyRouteComponent(() => import('./runs-page.tsx'), 'RunsPage'),
});

export const workflowRunRoute = createRoute({
  getParentRoute: () => workflowRoute,
  path: '/runs/$workflowRunId',
  validateSearch: stepSearch,
  component: lazyRouteComponent(() => import('./run-page.tsx'), 'RunPage'),
});

export const startRoute = createRoute({
  getParentRoute: () => workflowRoute,
  path: '/run',
  component: lazyRouteComponent(() => import('./start-page.tsx'), 'StartPage'),
});

export const definitionRoute = createRoute({
  getParentRoute: () => workflowRoute,
  path: '/definition',
  // The version a new draft is based on; default: the pinned one.
  validateSearch: ({ from }: Record<string, unknown>): { readonly from?: string } =>
    typeof from === 'string' ? { from } : {},
  component: lazyRouteComponent(() => import('./definition-page.tsx'), 'DefinitionPage'),
});

export const workflowVersionsRoute = createRoute({
  getParentRoute: () => workflowRoute,
  path: '/versions',
  validateSearch: readVersionsSearch,
  component: lazyRouteComponent(() => import('./versions-page.tsx'), 'VersionsPage'),
});

export const triggersRoute = createRoute({
  getParentRoute: () => workflowRoute,
  path: '/triggers',
  component: lazyRouteComponent(() => import('./triggers-page.tsx'), 'TriggersPage'),
});
