import { useQueries, useQuery } from '@tanstack/react-query';
import { agentQuery, agentsQuery } from './agents.ts';

/** What agents are called that are known only by their identifiers; undefined while that is not known. */
export function useAgentNames(
  agentIds: readonly string[],
): (agentId: string) => string | undefined {
  const { data, isError } = useQuery(agentsQuery({ limit: 100 }));
  const listed = new Map(data?.agents.map(({ agentId, agentName }) => [agentId, agentName]));
  // Archived ones are in no list, and of many agents the list holds only the newest.
  const others = [...new Set(agentIds)].filter((one) => !listed.has(one));
  const read = useQueries({
    queries: others.map((agentId) => ({
      ...agentQuery(agentId),
      enabled: data !== undefined || isError,
    })),
  });
  return (agentId) => listed.get(agentId) ?? read[others.indexOf(agentId)]?.data?.agentName;
}
