import type { AgentChange } from '../../../core/agent/agent-settings.ts';
import { storedId } from '../../../core/id.ts';
import type { Body } from '../../../http/contract/operation.ts';
import type { createAgent, updateAgent } from '../contract/agents-contract.ts';
import type { AgentPatch } from '../verbs/change-agent.ts';
import type { AgentInput } from '../verbs/create-agent.ts';

/** New agents and changes of agents, as requests have them. */

export function newAgent(body: Body<typeof createAgent>): AgentInput {
  const { promptId, promptVersionId, ...settings } = body;
  return {
    ...toChange(settings),
    name: body.agentName,
    promptId: storedId('prompt', promptId),
    promptVersionId: storedId('version', promptVersionId),
  };
}

export function agentPatch(body: Body<typeof updateAgent>): AgentPatch {
  const { promptVersionId, apiEnabled, ...settings } = body;
  return {
    change: toChange(settings),
    ...(promptVersionId !== undefined && { promptVersionId: storedId('version', promptVersionId) }),
    ...(apiEnabled !== undefined && { apiEnabled }),
  };
}

/** Omits absent fields: the change would set them to undefined. */
function toChange({
  agentName,
  agentConfig,
  ...others
}: Omit<Body<typeof updateAgent>, 'promptVersionId' | 'apiEnabled'>): AgentChange {
  return {
    ...others,
    ...(agentName !== undefined && { name: agentName }),
    ...(agentConfig !== undefined && { config: agentConfig }),
  };
}
