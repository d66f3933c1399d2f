import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../components/loading/lazy-page.ts';
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
  component: lazyPage(() => import('./workflow-page.tsx'), 'WorkflowPage'),
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
  component: lazyPage(() => import('./overview-page.tsx'), 'OverviewPage'),
});

export const workflowRunsRoute = createRoute({
  getParentRoute: () => workflowRoute,
  path: '/runs',
  validateSearch: readRunsSearch,
  component: lazyPage(() => import('./runs-page.tsx'), 'RunsPage'),
});

export const workflowRunRoute = createRoute({
  getParentRoute: () => workflowRoute,
  path: '/runs/$workflowRunId',
  validateSearch: stepSearch,
  component: lazyPage(() => import('./run-page.tsx'), 'RunPage'),
});

export const startRoute = createRoute({
  getParentRoute: () => workflowRoute,
  path: '/run',
  component: lazyPage(() => import('./start-page.tsx'), 'StartPage'),
});

export const definitionRoute = createRoute({
  getParentRoute: () => workflowRoute,
  path: '/definition',
  // The version a new draft is based on; default: the pinned one.
  validateSearch: ({ from }: Record<string, unknown>): { readonly from?: string } =>
    typeof from === 'string' ? { from } : {},
  component: lazyPage(() => import('./definition-page.tsx'), 'DefinitionPage'),
});

export const workflowVersionsRoute = createRoute({
  getParentRoute: () => workflowRoute,
  path: '/versions',
  validateSearch: readVersionsSearch,
  component: lazyPage(() => import('./versions-page.tsx'), 'VersionsPage'),
});

export const triggersRoute = createRoute({
  getParentRoute: () => workflowRoute,
  path: '/triggers',
  component: lazyPage(() => import('./triggers-page.tsx'), 'TriggersPage'),
});
