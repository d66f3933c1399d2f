import { queryOptions } from '@tanstack/react-query';
import type { Agent } from '../../../src/client/index.ts';
import { cueline } from '../../data/client/client.ts';
import { keyStateOf } from '../../data/workspace/keys.ts';

const echo = /^cueline\/echo/;

/** Which of the first steps the workspace has taken. Polled, so that a call from elsewhere checks off its step. */
export const firstStepsQuery = queryOptions({
  queryKey: ['first-steps'],
  queryFn: async ({ signal }) => {
    const [prompts, providers, agents, keys, calls] = await Promise.all([
      cueline.prompts.list({ limit: 1 }, { signal }),
      cueline.request('GET /api/v1/providers', {}, { signal }),
      cueline.agents.list({ status: 'Deployed', limit: 100 }, { signal }),
      cueline.keys.list({ limit: 100 }, { signal }),
      cueline.list(null, { source: 'api', limit: 1, omit: 'bodies' }, { signal }),
    ]);
    const deployed = agents.agents;
    const called = calls.pagination.total > 0;
    const connected = providers.body.providers.length + providers.body.environment.length > 0;
    return {
      prompt: prompts.pagination.total > 0,
      provider: called || connected || (await usesEcho(deployed[0], signal)),
      agent: deployed.length > 0,
      key: keys.keys.some((key) => keyStateOf(key) === 'active'),
      call: called,
      /** The newest deployed agent, which the next steps are about. */
      agentId: deployed[0]?.agentId,
    };
  },
  refetchInterval: 10_000,
});

/** An agent without a model of its own uses that of its version. False if the version cannot be read. */
async function usesEcho(agent: Agent | undefined, signal: AbortSignal): Promise<boolean> {
  if (agent === undefined) return false;
  const own = agent.agentConfig.model;
  if (own !== undefined) return echo.test(own);
  const { promptId, promptVersionId } = agent;
  const read = cueline.versions.get(promptId, promptVersionId, { signal });
  const version = await read.catch(() => null);
  return echo.test(version?.model ?? '');
}
