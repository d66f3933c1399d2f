import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readAnalyticsSearch } from '../../data/analytics/analytics-search.ts';
import { appRoute } from '../../shell/routes.tsx';

export const analyticsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/analytics',
  validateSearch: readAnalyticsSearch,
  component: lazyRouteComponent(() => import('./analytics-page.tsx'), 'AnalyticsPage'),
});
