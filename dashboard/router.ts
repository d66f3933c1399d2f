import { createRouter, parseSearchWith } from '@tanstack/react-router';
import { startNavigation } from './components/hooks/heading-focus.ts';
import { basePath } from './data/client/base-path.ts';
import { parseSearchValue } from './data/client/search-params.ts';
import {
  agentAnalyticsRoute,
  agentBatchesRoute,
  agentOverviewRoute,
  agentPinsRoute,
  agentRoute,
  agentRunRoute,
  agentSettingsRoute,
} from './pages/agent/route.ts';
import { agentsRoute } from './pages/agents/route.ts';
import { analyticsRoute } from './pages/analytics/route.ts';
import {
  agentExecutionRoute,
  agentExecutionsRoute,
  comparisonRoute,
  executionRoute,
  executionsRoute,
} from './pages/history/route.ts';
import { conversationRoute, userRoute } from './pages/history/sessions/route.ts';
import { invitationRoute } from './pages/invitation/route.ts';
import { agentUseRoute, keysRoute } from './pages/keys/route.ts';
import { newAgentRoute } from './pages/new-agent/route.ts';
import { noWorkspaceRoute } from './pages/no-workspace/route.ts';
import { overviewRoute } from './pages/overview/route.ts';
import {
  playgroundRoute,
  promptEditorRoute,
  promptRoute,
  promptVersionsRoute,
} from './pages/prompt/route.ts';
import { promptsRoute } from './pages/prompts/route.ts';
import { settingsRoutes } from './pages/settings/route.ts';
import { resetRequestRoute, resetRoute, signInRoute } from './pages/sign-in/route.ts';
import {
  definitionRoute,
  startRoute,
  triggersRoute,
  workflowOverviewRoute,
  workflowRoute,
  workflowRunRoute,
  workflowRunsRoute,
  workflowVersionsRoute,
} from './pages/workflow/route.ts';
import { newWorkflowRoute, workflowsRoute } from './pages/workflows/route.ts';
import { NotFoundPage, PageError, PageLoading } from './shell/page-states.tsx';
import { appRoute, rootRoute, unknownRoute } from './shell/routes.tsx';

/** All pages. Each page folder has a `route.ts`, registered here. */
const routeTree = rootRoute.addChildren([
  signInRoute,
  resetRequestRoute,
  resetRoute,
  invitationRoute,
  noWorkspaceRoute,
  appRoute.addChildren([
    overviewRoute,
    conversationRoute,
    userRoute,
    analyticsRoute,
    agentsRoute,
    newAgentRoute,
    agentRoute.addChildren([
      agentOverviewRoute,
      agentAnalyticsRoute,
      agentRunRoute,
      agentPinsRoute,
      agentBatchesRoute,
      agentSettingsRoute,
      agentExecutionsRoute,
      agentExecutionRoute,
      agentUseRoute,
    ]),
    promptsRoute,
    promptRoute.addChildren([promptEditorRoute, playgroundRoute, promptVersionsRoute]),
    workflowsRoute,
    newWorkflowRoute,
    workflowRoute.addChildren([
      workflowOverviewRoute,
      workflowRunsRoute,
      workflowRunRoute,
      startRoute,
      definitionRoute,
      workflowVersionsRoute,
      triggersRoute,
    ]),
    executionsRoute,
    executionRoute,
    comparisonRoute,
    keysRoute,
    settingsRoutes,
    unknownRoute,
  ]),
]);

export const router = createRouter({
  routeTree,
  basepath: basePath,
  defaultPreload: 'intent',
  // React Query decides when data is stale.
  defaultPreloadStaleTime: 0,
  defaultErrorComponent: PageError,
  defaultNotFoundComponent: NotFoundPage,
  defaultPendingComponent: PageLoading,
  // Drops unknown search parameters, which the API would reject.
  search: { strict: true },
  parseSearch: parseSearchWith(parseSearchValue),
  notFoundMode: 'root',
  scrollRestoration: true,
});
router.subscribe('onBeforeNavigate', ({ hrefChanged }) => hrefChanged && startNavigation());

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
