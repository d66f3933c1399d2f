import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../components/loading/lazy-page.ts';
import { appRoute } from '../../shell/routes.tsx';

/** Preselected prompt version. */
export interface NewAgentSearch {
  readonly promptId?: string;
  readonly promptVersionId?: string;
}

export const newAgentRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/agents/new',
  validateSearch: ({ promptId, promptVersionId }: Record<string, unknown>): NewAgentSearch => ({
    ...(typeof promptId === 'string' && { promptId }),
    ...(typeof promptVersionId === 'string' && { promptVersionId }),
  }),
  component: lazyPage(() => import('./new-agent-page.tsx'), 'NewAgentPage'),
});
