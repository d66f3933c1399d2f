import { queryOptions, useQuery } from '@tanstack/react-query';
import { cueline } from '../client/client.ts';

const memberNamesQuery = queryOptions({
  queryKey: ['members', 'names'],
  queryFn: async ({ signal }) => {
    const members = await cueline.members.list({ signal });
    return new Map(members.map(({ userId, name, email }) => [userId, name || email]));
  },
  staleTime: 300_000,
});

/** Display names of members by user id; a dash until loaded. */
export function useMemberNames(): (userId: string | null) => string {
  const { data } = useQuery(memberNamesQuery);
  return (userId) => {
    if (userId === null) return 'a deleted account';
    return data ? (data.get(userId) ?? 'a former member') : '–';
  };
}
