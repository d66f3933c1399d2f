import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../components/loading/lazy-page.ts';
import { readOffset } from '../../data/client/search-params.ts';
import { appRoute } from '../../shell/routes.tsx';
import { agentRoute } from '../agent/route.ts';

export interface KeysSearch {
  readonly offset?: number;
  /** Lists the revoked keys instead of the others. */
  readonly revoked?: true;
}

export const keysRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/keys',
  validateSearch: (given: Record<string, unknown>): KeysSearch => ({
    ...readOffset(given),
    ...(given.revoked === true && { revoked: true }),
  }),
  component: lazyPage(() => import('./keys-page.tsx'), 'KeysPage'),
});

/** Code snippets and keys of one agent. */
export const agentUseRoute = createRoute({
  getParentRoute: () => agentRoute,
  path: '/use',
  // `start` opens the dialog that deploys the agent and issues its first key.
  validateSearch: ({ start }: Record<string, unknown>): { readonly start?: true } =>
    start === true ? { start } : {},
  component: lazyPage(() => import('./use-it-page.tsx'), 'UseItPage'),
});
