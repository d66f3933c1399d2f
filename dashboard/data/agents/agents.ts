import { keepPreviousData, queryOptions, useQueryClient } from '@tanstack/react-query';
import type {
  Agent,
  AgentFilters,
  AgentInput,
  AgentPatch,
  LifecycleAction,
} from '../../../src/client/index.ts';
import { type Action, deletion } from '../../kit/resource.ts';
import { cueline } from '../client/client.ts';
import { useSingleFlight } from '../client/use-single-flight.ts';
import type { Range } from '../executions/statistics.ts';

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

const limitsPollMs = 10_000;

export const agentLimitsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['agents', agentId, 'limits'],
    queryFn: ({ signal }) => cueline.agents.limits(agentId, { signal }),
    refetchInterval: limitsPollMs,
  });

/** Statistics of several agents in one call, grouped by agent. */
export const statisticsOfQuery = (agentIds: readonly string[], range: Range) =>
  queryOptions({
    queryKey: ['agents', 'statistics', agentIds.join(), range],
    queryFn: async ({ queryKey: [, , ids], signal }) => {
      const query = { ...range, groupBy: 'agent,status', agentIds: String(ids) };
      const { buckets, ...rest } = await cueline.statistics(query, { signal });
      // Grouped once per response: every table cell looks up its agent.
      return { ...rest, byAgent: Map.groupBy(buckets, ({ agentId }) => agentId) };
    },
    enabled: agentIds.length > 0,
    refetchInterval: 60_000,
    // Keep the previous hour while the next one loads, but only for the same agents.
    placeholderData: (before, query) =>
      query?.queryKey[2] === agentIds.join() ? before : undefined,
  });

/** Pausing with `cancelRunning` also cancels running executions. */
export const moveAgent = (
  agentId: string,
  action: LifecycleAction,
  options?: { readonly cancelRunning: boolean },
): Action<void, Agent> => ({
  run: () => cueline.agents.move(agentId, action, options),
  saved: action === 'disable' ? 'Paused' : 'Saved',
  stale: [['executions'], ['agents']],
});

/** Includes the ETag that makes an update fail after a concurrent change. */
export const taggedAgentQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['agents', agentId, 'tagged'],
    queryFn: ({ signal }) => cueline.agents.getWithEtag(agentId, { signal }),
    // A refetch on focus would reset the form.
    refetchOnWindowFocus: false,
  });

/** `onCreated` runs even if the user has left the page. */
export function useCreateAgent(onCreated: (made: Agent) => void) {
  const queries = useQueryClient();
  return useSingleFlight(
    {
      meta: { saved: 'Agent created' },
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
  return useSingleFlight({
    meta: { saved: 'Saved' },
    mutationFn: ({ patch, etag }: { patch: AgentPatch; etag?: string | null }) =>
      cueline.agents.update(agentId, patch, etag ? { ifMatch: etag } : {}),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['agents'] }),
  });
}

export const deleteAgent = (agentId: string, leave: () => Promise<void>) =>
  deletion(() => cueline.agents.delete(agentId), leave, [
    ['agents', 'list'],
    ['agents', agentId],
  ]);
