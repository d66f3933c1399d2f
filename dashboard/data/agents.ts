import { keepPreviousData, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { AgentFilters, LifecycleAction, StatisticsQuery } from '../../src/client/index.ts';
import { cueline } from './client.ts';

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

/** The range is part of the key, so it comes rounded: else every render would ask anew. */
export const statisticsQuery = (agentId: string, range: StatisticsQuery) =>
  queryOptions({
    queryKey: ['agents', agentId, 'statistics', range],
    queryFn: ({ signal }) => cueline.agents.statistics(agentId, range, { signal }),
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
