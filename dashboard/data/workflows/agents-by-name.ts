import { queryOptions, useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useLoadedAgentNames } from '../agents/agent-names.ts';
import { cueline } from '../client/client.ts';
import { type AgentsNamed, agentNamesOf, withAgentIds, withAgentNames } from './named-agents.ts';
import type { WorkflowDefinition } from './workflows.ts';

/** Looks up agents by name, for definitions that name them (`named-agents.ts`). */

/** The ids of the agents with exactly this name. */
export const agentsNamedQuery = (name: string) =>
  queryOptions({
    queryKey: ['agents', 'named', name],
    queryFn: async ({ signal }) => {
      const { agents } = await cueline.agents.list({ q: name, limit: 100 }, { signal });
      return agents.flatMap(({ agentId, agentName }) => (agentName === name ? [agentId] : []));
    },
  });

function useAgentsNamed(names: readonly string[]): {
  readonly named: AgentsNamed;
  readonly isLoading: boolean;
} {
  const results = useQueries({ queries: names.map(agentsNamedQuery) });
  // The same map while nothing changes, for whatever depends on it.
  const entries = JSON.stringify(names.map((name, at) => [name, results[at]?.data]));
  const named = useMemo(() => {
    const parsed = JSON.parse(entries) as [string, string[] | null][];
    return new Map(parsed.map(([name, ids]) => [name, ids ?? undefined]));
  }, [entries]);
  return { named, isLoading: results.some(({ isPending }) => isPending) };
}

/** The names that no agent has; empty while they are loading. */
export function useMissingAgents(names: readonly string[]): string[] {
  const { named } = useAgentsNamed(names);
  return names.filter((name) => named.get(name)?.length === 0);
}

/** Replaces ids of agents by names in definitions. Null while names are loading. */
export function useNamedDefinition(definition: WorkflowDefinition | undefined) {
  const ids = definition ? agentIdsOf(definition) : [];
  const { nameOf, isLoading } = useLoadedAgentNames(ids);
  const names = [...new Set(ids.flatMap((id) => nameOf(id) ?? []))];
  const found = useAgentsNamed(names);
  if (!definition || isLoading || found.isLoading) return null;
  return withAgentNames(definition, (id) => {
    const name = nameOf(id);
    const [only, ...others] = name === undefined ? [] : (found.named.get(name) ?? []);
    return only === id && others.length === 0 ? name : undefined;
  });
}

export interface ResolvedDefinition {
  /** With ids only. */
  readonly definition: unknown;
  /** Some names are not resolved yet. */
  readonly isLoading: boolean;
  /** Problems with names, by the path of the server's problem that they replace. */
  readonly problems: ReadonlyMap<string, string>;
}

/** Resolves the names of agents in a definition that is being edited. */
export function useResolvedDefinition(definition: unknown): ResolvedDefinition {
  const { named, isLoading } = useAgentsNamed(agentNamesOf(definition));
  const resolved = useMemo(() => withAgentIds(definition, named), [definition, named]);
  return { ...resolved, isLoading };
}

function agentIdsOf(definition: WorkflowDefinition): string[] {
  const ids = definition.steps.flatMap(({ agentId, fallback }) => [
    agentId,
    fallback?.agentId ?? [],
  ]);
  return [...new Set(ids.flat())];
}
