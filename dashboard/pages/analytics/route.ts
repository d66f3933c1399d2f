import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../components/loading/lazy-page.ts';
import { readAnalyticsSearch } from '../../data/analytics/analytics-search.ts';
import { appRoute } from '../../shell/routes.tsx';

export const analyticsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/analytics',
  validateSearch: readAnalyticsSearch,
  component: lazyPage(() => import('./analytics-page.tsx'), 'AnalyticsPage'),
});
