import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../../components/loading/lazy-page.ts';
import { toText } from '../../../data/client/search-params.ts';
import { appRoute } from '../../../shell/routes.tsx';

/** Users and sessions have any text as their name: it is a search parameter, not a part of the path. */
const textOf = (value: unknown) => (value === undefined ? '' : toText(value));

export const conversationRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/session',
  validateSearch: ({ session }: Record<string, unknown>) => ({ session: textOf(session) }),
  component: lazyPage(() => import('./conversation-page.tsx'), 'ConversationPage'),
});

export const userRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/user',
  validateSearch: ({ user }: Record<string, unknown>) => ({ user: textOf(user) }),
  component: lazyPage(() => import('./user-page.tsx'), 'UserPage'),
});
