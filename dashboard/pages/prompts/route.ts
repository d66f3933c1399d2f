import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../components/loading/lazy-page.ts';
import { readOffset, toText } from '../../data/client/search-params.ts';
import { appRoute } from '../../shell/routes.tsx';

/** The filters of the list, as search parameters. */
export interface PromptsSearch {
  readonly q?: string;
  readonly archived?: true;
  readonly offset?: number;
}

export const promptsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/prompts',
  // Drops invalid values: a mistyped URL shows more results, not an error.
  validateSearch: (given: Record<string, unknown>): PromptsSearch => {
    return {
      ...(given.q !== undefined && given.q !== '' && { q: toText(given.q) }),
      ...(given.archived === true && { archived: true }),
      ...readOffset(given),
    };
  },
  component: lazyPage(() => import('./prompts-page.tsx'), 'PromptsPage'),
});
