import { queryOptions } from '@tanstack/react-query';
import { cueline } from '../client/client.ts';

/** Who is signed in, be it that they are a member of nothing; null for nobody. */
export const sessionUserQuery = queryOptions({
  queryKey: ['session-user'],
  queryFn: () => cueline.session.user(),
});
