import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { AgentFilters } from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';
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

/** Includes the ETag that makes an update fail after a concurrent change. */
export const taggedAgentQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['agents', agentId, 'tagged'],
    queryFn: ({ signal }) => cueline.agents.getWithEtag(agentId, { signal }),
    // A refetch on focus would reset the form.
    refetchOnWindowFocus: false,
  });
