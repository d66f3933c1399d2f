import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../components/loading/lazy-page.ts';
import { rootRoute } from '../../shell/routes.tsx';

export interface SignInSearch {
  /** The page to open after sign-in. */
  readonly from?: string;
  /** The error code of an identity provider. */
  readonly error?: string;
}

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: ({ from, error }: Record<string, unknown>): SignInSearch => ({
    ...(isOwnPage(from) && { from }),
    ...(typeof error === 'string' && { error }),
  }),
  component: lazyPage(() => import('./sign-in-page.tsx'), 'SignInPage'),
});

export const resetRequestRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in/reset',
  component: lazyPage(() => import('./reset-request-page.tsx'), 'ResetRequestPage'),
});

export const resetRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in/reset/$token',
  component: lazyPage(() => import('./reset-page.tsx'), 'ResetPage'),
});

/** Prevents open redirects: only paths of this site. */
function isOwnPage(from: unknown): from is string {
  return typeof from === 'string' && /^\/(?![/\\])/.test(from);
}
