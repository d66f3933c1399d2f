import { keepPreviousData, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { AgentFilters, LifecycleAction } from '../../src/client/index.ts';
import { cueline } from './client.ts';
import type { Range } from './statistics.ts';

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

export const statisticsQuery = (agentId: string, range: Range) =>
  queryOptions({
    queryKey: ['agents', agentId, 'statistics', range],
    queryFn: ({ signal }) =>
      cueline.agents.statistics(agentId, { ...range, groupBy: 'status' }, { signal }),
    refetchInterval: 60_000,
    placeholderData: keepPreviousData,
  });

/** Of all agents in one call, each told apart. */
export const allStatisticsQuery = (range: Range) =>
  queryOptions({
    queryKey: ['agents', 'statistics', range],
    queryFn: ({ signal }) => cueline.statistics({ ...range, groupBy: 'agent,status' }, { signal }),
    refetchInterval: 60_000,
    placeholderData: keepPreviousData,
  });

export function useMoveAgent(agentId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (action: LifecycleAction) => cueline.agents.move(agentId, action),
    // Also after a refusal: someone else may have moved it.
    onSettled: () => queries.invalidateQueries({ queryKey: ['agents'] }),
  });
}
