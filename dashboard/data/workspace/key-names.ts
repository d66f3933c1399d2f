import { queryOptions, useQuery } from '@tanstack/react-query';
import { cueline } from '../client/client.ts';

export const keyNamesQuery = queryOptions({
  queryKey: ['keys', 'names'],
  queryFn: async ({ signal }) => {
    const { keys } = await cueline.keys.list({ limit: 100 }, { signal });
    return new Map(keys.map(({ apiKeyId, name, start }) => [apiKeyId, `${name} (${start}…)`]));
  },
  staleTime: 300_000,
});

/** Names of the newest 100 keys, as the API keys page shows them; undefined until loaded. */
export function useKeyNames(): ReadonlyMap<string, string> | undefined {
  return useQuery(keyNamesQuery).data;
}
