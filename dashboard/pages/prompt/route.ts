import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../components/loading/lazy-page.ts';
import { queryClient } from '../../data/client/query-client.ts';
import { promptQuery } from '../../data/prompts/prompts.ts';
import { readVersionsSearch } from '../../data/prompts/versions-search.ts';
import { appRoute } from '../../shell/routes.tsx';

/** The prompt's page: a header and tabs. */
export const promptRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/prompts/$promptId',
  loader: ({ params }) => queryClient.ensureQueryData(promptQuery(params.promptId)),
  component: lazyPage(() => import('./prompt-page.tsx'), 'PromptPage'),
});

export interface EditorSearch {
  /** The version a new draft is based on; default: the latest. */
  readonly from?: string;
}

export const promptEditorRoute = createRoute({
  getParentRoute: () => promptRoute,
  path: '/',
  validateSearch: ({ from }: Record<string, unknown>): EditorSearch =>
    typeof from === 'string' ? { from } : {},
  component: lazyPage(() => import('./editor-page.tsx'), 'EditorPage'),
});

export const promptVersionsRoute = createRoute({
  getParentRoute: () => promptRoute,
  path: '/versions',
  validateSearch: readVersionsSearch,
  component: lazyPage(() => import('./versions-page.tsx'), 'VersionsPage'),
});

/** Up to three versions side by side, separated by commas. Default: the draft, else the latest version. */
export interface PlaygroundSearch {
  readonly versions?: string;
}

export const playgroundRoute = createRoute({
  getParentRoute: () => promptRoute,
  path: '/playground',
  validateSearch: ({ versions }: Record<string, unknown>): PlaygroundSearch =>
    typeof versions === 'string' ? { versions } : {},
  component: lazyPage(() => import('./playground-page.tsx'), 'PlaygroundPage'),
});
