import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../components/loading/lazy-page.ts';
import { readRangeSearch } from '../../data/analytics/range-search.ts';
import { appRoute } from '../../shell/routes.tsx';

/** The first page. */
export const overviewRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/',
  validateSearch: readRangeSearch,
  component: lazyPage(() => import('./overview-page.tsx'), 'OverviewPage'),
});
