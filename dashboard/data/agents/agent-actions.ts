import { useQueryClient } from '@tanstack/react-query';
import type { Agent, AgentInput, AgentPatch, LifecycleAction } from '../../../src/client/index.ts';
import { deletion } from '../../kit/deletion.ts';
import type { Action } from '../../kit/resource.ts';
import { cueline } from '../client/client.ts';
import { useSingleFlight } from '../client/use-single-flight.ts';

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
