import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readRangeSearch } from '../../data/analytics/range-search.ts';
import { appRoute } from '../../shell/routes.tsx';

/** The first page. */
export const overviewRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/',
  validateSearch: readRangeSearch,
  component: lazyRouteComponent(() => import('./overview-page.tsx'), 'OverviewPage'),
});
