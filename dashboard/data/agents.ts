import { keepPreviousData, queryOptions, useQueryClient } from '@tanstack/react-query';
import type {
  Agent,
  AgentFilters,
  AgentInput,
  AgentPatch,
  LifecycleAction,
} from '../../src/client/index.ts';
import { cueline } from './client.ts';
import type { Range } from './statistics.ts';
import { useDeletion } from './use-deletion.ts';
import { useWrite } from './use-write.ts';

export const agentsQuery = (filters: AgentFilters) =>
  queryOptions({
    queryKey: ['agents', 'list', filters],
    queryFn: ({ signal }) => cueline.agents.list(filters, { signal }),
    placeholderData: keepPreviousData,
  });

export const agentQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['agents', agentId],
    queryFn: ({ signal }) => cueline.agents.get(agentId, { signal }),
  });

/** A minute turns while one looks. */
const limitsEveryMs = 10_000;

export const agentLimitsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['agents', agentId, 'limits'],
    queryFn: ({ signal }) => cueline.agents.limits(agentId, { signal }),
    refetchInterval: limitsEveryMs,
  });

export const statisticsQuery = (agentId: string, range: Range) =>
  queryOptions({
    queryKey: ['agents', agentId, 'statistics', range],
    queryFn: ({ signal }) =>
      cueline.agents.statistics(agentId, { ...range, groupBy: 'status' }, { signal }),
    refetchInterval: 60_000,
    placeholderData: keepPreviousData,
  });

/** Of these agents in one call, each told apart. */
export const statisticsOfQuery = (agentIds: readonly string[], range: Range) =>
  queryOptions({
    queryKey: ['agents', 'statistics', agentIds.join(), range],
    queryFn: async ({ queryKey: [, , ids], signal }) => {
      const query = { ...range, groupBy: 'agent,status', agentIds: String(ids) };
      const { buckets, ...rest } = await cueline.statistics(query, { signal });
      // Once for each answer: every cell of the list looks its agent up.
      return { ...rest, byAgent: Map.groupBy(buckets, ({ agentId }) => agentId) };
    },
    enabled: agentIds.length > 0,
    refetchInterval: 60_000,
    // While the next hour is read; of other agents it would say that nothing ran.
    placeholderData: (before, query) =>
      query?.queryKey[2] === agentIds.join() ? before : undefined,
  });

export function useMoveAgent(agentId: string) {
  const queries = useQueryClient();
  return useWrite({
    mutationFn: (action: LifecycleAction) => cueline.agents.move(agentId, action),
    // Also after a refusal: someone else may have moved it.
    onSettled: () => queries.invalidateQueries({ queryKey: ['agents'] }),
  });
}

/** With the tag that makes a change fail where someone else was faster. */
export const taggedAgentQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['agents', agentId, 'tagged'],
    queryFn: ({ signal }) => cueline.agents.getWithEtag(agentId, { signal }),
    // What is being filled in is not taken away because the window was looked at again.
    refetchOnWindowFocus: false,
  });

/** `onCreated` is called whatever page is shown by then. */
export function useCreateAgent(onCreated: (made: Agent) => void) {
  const queries = useQueryClient();
  return useWrite(
    {
      mutationFn: (agent: AgentInput) => cueline.agents.create(agent),
      onSuccess: (made) => {
        void queries.invalidateQueries({ queryKey: ['agents'] });
        onCreated(made);
      },
    },
    { leadsAway: true },
  );
}

export function useChangeAgent(agentId: string) {
  const queries = useQueryClient();
  return useWrite({
    mutationFn: ({ patch, etag }: { patch: AgentPatch; etag?: string | null }) =>
      cueline.agents.update(agentId, patch, etag ? { ifMatch: etag } : {}),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['agents'] }),
  });
}

export function useDeleteAgent(agentId: string, leave: () => Promise<void>) {
  return useDeletion({
    order: () => cueline.agents.delete(agentId),
    lists: ['agents', 'list'],
    leave,
    gone: [['agents', agentId]],
  });
}
