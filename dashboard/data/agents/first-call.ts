import { queryOptions } from '@tanstack/react-query';
import type { Agent, IssuedApiKey, LifecycleAction } from '../../../src/client/index.ts';
import type { Action } from '../../kit/resource.ts';
import { cueline } from '../client/client.ts';

/** The way to the first call of an agent: deploy it, issue a key, wait for the call. */

/** Even after an error: the agent may be deployed although the key was refused. */
const stale = [['agents'], ['keys']];

/** Deploys the agent from any stage and issues a key that can only execute it. */
export const deployWithKey = (agentId: string): Action<string, IssuedApiKey> => ({
  run: async (name) => {
    await deploy(agentId);
    return cueline.keys.create({ name, permissions: ['execute'], agentIds: [agentId] });
  },
  saved: 'Deployed, key created',
  stale,
});

export const deployment = (agentId: string): Action<void, Agent> => ({
  run: () => deploy(agentId),
  saved: 'Deployed',
  stale,
});

const nextActions: Readonly<Record<Agent['status'], LifecycleAction | null>> = {
  Draft: 'enable-api',
  Testing: 'deploy',
  Deployed: null,
  Paused: 're-enable',
};

/** Reads the stage first, because another user or an attempt that failed half-way may have moved the agent. */
async function deploy(agentId: string): Promise<Agent> {
  let agent = await cueline.agents.get(agentId);
  if (agent.archived) agent = await cueline.agents.move(agentId, 'restore');
  for (let action = nextActions[agent.status]; action !== null; action = nextActions[agent.status])
    agent = await cueline.agents.move(agentId, action);
  return agent.apiEnabled ? agent : cueline.agents.update(agentId, { apiEnabled: true });
}

const pollMs = 1_000;

/** The newest call of the agent with this key, even if it is in progress or was refused; null before the first one. */
export const latestCallQuery = (agentId: string, apiKeyId: string) =>
  queryOptions({
    queryKey: ['executions', 'latest-call', agentId, apiKeyId],
    queryFn: async ({ signal }) => {
      const filters = { apiKeyId, limit: 1, include: 'processing' as const };
      return (await cueline.list(agentId, filters, { signal })).executions[0] ?? null;
    },
    staleTime: 0,
    refetchInterval: pollMs,
    // The call comes from another window.
    refetchIntervalInBackground: true,
  });
