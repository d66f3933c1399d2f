import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Agent } from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';
import { useSingleFlight } from '../client/use-single-flight.ts';

const agentsPage = 100;

/** All agents that pin a version, except archived ones, which cannot run. */
export const agentsOfVersionQuery = (promptVersionId: string) =>
  queryOptions({
    queryKey: ['agents', 'of version', promptVersionId],
    queryFn: async ({ signal }) => {
      const found: Agent[] = [];
      for (let hasMore = true; hasMore; ) {
        const filters = { promptVersionId, limit: agentsPage, offset: found.length };
        const page = await cueline.agents.list(filters, { signal });
        found.push(...page.agents);
        hasMore = page.pagination.hasMore && page.agents.length > 0;
      }
      return found;
    },
  });

export interface PinResult {
  readonly pinned: readonly Agent[];
  readonly failed: readonly { readonly agent: Agent; readonly message: string }[];
}

/** Pins a version for several agents, one after the other: one that fails does not stop the others. */
export function usePinAll() {
  const queries = useQueryClient();
  const [progress, setProgress] = useState(0);
  const mutation = useSingleFlight({
    mutationFn: async (input: {
      readonly agents: readonly Agent[];
      readonly promptVersionId: string;
    }): Promise<PinResult> => {
      setProgress(0);
      const [pinned, failed]: [Agent[], { agent: Agent; message: string }[]] = [[], []];
      for (const agent of input.agents) {
        const { promptVersionId } = input;
        try {
          await cueline.agents.update(agent.agentId, { promptVersionId });
          pinned.push(agent);
        } catch (error) {
          failed.push({ agent, message: error instanceof Error ? error.message : String(error) });
        }
        setProgress((count) => count + 1);
      }
      return { pinned, failed };
    },
    onSettled: () => void queries.invalidateQueries({ queryKey: ['agents'] }),
  });
  return { ...mutation, progress };
}
