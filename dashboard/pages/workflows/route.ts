import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../components/loading/lazy-page.ts';
import { appRoute } from '../../shell/routes.tsx';

/** The filters of the list, as search parameters. */
export interface WorkflowsSearch {
  readonly q?: string;
  readonly offset?: number;
}

export const workflowsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/workflows',
  // Drops invalid values: a mistyped URL shows more results, not an error.
  validateSearch: (given: Record<string, unknown>): WorkflowsSearch => {
    const offset = Number(given.offset);
    return {
      ...(given.q !== undefined && given.q !== '' && { q: String(given.q) }),
      ...(Number.isSafeInteger(offset) && offset > 0 && { offset }),
    };
  },
  component: lazyPage(() => import('./workflows-page.tsx'), 'WorkflowsPage'),
});

export const newWorkflowRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/workflows/new',
  component: lazyPage(() => import('./new-workflow-page.tsx'), 'NewWorkflowPage'),
});
