import { useQueries, useQuery } from '@tanstack/react-query';
import { agentQuery, agentsQuery } from './agents.ts';

/** Names of agents known only by id; undefined until loaded. */
export function useAgentNames(
  agentIds: readonly string[],
): (agentId: string) => string | undefined {
  return useLoadedAgentNames(agentIds).nameOf;
}

export function useLoadedAgentNames(agentIds: readonly string[]): {
  readonly nameOf: (agentId: string) => string | undefined;
  readonly isLoading: boolean;
} {
  const { data, isError } = useQuery(agentsQuery({ limit: 100 }));
  const listed = new Map(data?.agents.map(({ agentId, agentName }) => [agentId, agentName]));
  // The list omits archived agents and, in large workspaces, older ones.
  const others = [...new Set(agentIds)].filter((one) => !listed.has(one));
  const read = useQueries({
    queries: others.map((agentId) => ({
      ...agentQuery(agentId),
      enabled: data !== undefined || isError,
    })),
  });
  return {
    nameOf: (agentId) => listed.get(agentId) ?? read[others.indexOf(agentId)]?.data?.agentName,
    isLoading: (data === undefined && !isError) || read.some(({ isPending }) => isPending),
  };
}
