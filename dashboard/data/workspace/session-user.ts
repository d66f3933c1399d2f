import { queryOptions } from '@tanstack/react-query';
import { cueline } from '../client/client.ts';

/** The signed-in user, even without any workspace; null if signed out. */
export const sessionUserQuery = queryOptions({
  queryKey: ['session-user'],
  queryFn: () => cueline.session.user(),
});

/** How one can sign in. */
export const signInOptionsQuery = queryOptions({
  queryKey: ['sign-in-options'],
  queryFn: () => cueline.session.signInOptions(),
});
