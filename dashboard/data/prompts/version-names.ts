import { queryOptions, useQueries } from '@tanstack/react-query';
import { cueline } from '../client/client.ts';

/** The label of a version that is known only by its id: as an agent pins it, else as a record names it. Null if neither exists. */
const versionNameQuery = (promptVersionId: string) =>
  queryOptions({
    queryKey: ['version names', promptVersionId],
    queryFn: async ({ signal }) => {
      const one = { promptVersionId, limit: 1 };
      const { agents } = await cueline.agents.list(one, { signal });
      if (agents[0]) return agents[0].promptVersionLabel;
      const { executions } = await cueline.list(null, { ...one, omit: 'bodies' }, { signal });
      return executions[0]?.promptVersionLabel ?? null;
    },
    staleTime: 300_000,
  });

/** Names of versions; undefined until loaded and for unknown ones. */
export function useVersionNames(
  promptVersionIds: readonly string[],
): (promptVersionId: string) => string | undefined {
  const ids = [...new Set(promptVersionIds)];
  const names = useQueries({ queries: ids.map(versionNameQuery) });
  return (promptVersionId) => names[ids.indexOf(promptVersionId)]?.data ?? undefined;
}
