import type { Agent, AgentPin, Pin } from '../../../contract/agents/agent-record.ts';
import type { createAgent, updateAgent } from '../../../contract/agents/agents.ts';
import type { Body } from '../../../contract/endpoint.ts';
import { allowedActions, callable } from '../../../core/agent/agent.ts';
import type { AgentChange } from '../../../core/agent/agent-settings.ts';
import { fromId, toId } from '../../../core/id.ts';
import type { AgentPatch } from '../../../flow/agent/change-agent.ts';
import type { AgentInput } from '../../../flow/agent/create-agent.ts';
import type { AgentRow } from '../../../store/agent/agents.ts';
import type { AgentPinRow, PinRow } from '../../../store/agent/pins.ts';

/** Agents in API format. */

export function agentWire(row: AgentRow): Agent {
  return {
    agentId: toId('agent', row.id),
    agentName: row.name,
    slug: row.slug,
    aliases: [...row.aliases],
    promptId: toId('prompt', row.promptId),
    promptVersionId: toId('version', row.promptVersionId),
    promptVersionLabel: row.promptVersionLabel,
    agentConfig: row.config,
    requiredVariables: [...row.requiredVariables],
    optionalVariables: [...row.optionalVariables],
    defaultVariableValues: row.defaultVariableValues,
    // An archived agent keeps its setting for its restoration, but rejects executions.
    apiEnabled: callable(row),
    visibility: row.visibility,
    rateLimits: row.rateLimits,
    status: row.stage,
    archived: row.archived,
    allowedActions: allowedActions(row),
    project: row.project,
    category: row.category,
    tags: [...row.tags],
    description: row.description,
    allowedOrigins: [...row.allowedOrigins],
    retention: row.retention,
    storeBodies: row.storeBodies,
    allowInstructions: row.allowInstructions,
    allowTools: row.allowTools,
    versionAliases: row.versionAliases,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    createdBy: row.createdBy === null ? null : toId('user', row.createdBy),
  };
}

export function pinWire(row: PinRow): Pin {
  return {
    pinId: toId('pin', row.id),
    promptVersionId: toId('version', row.versionId),
    promptVersionLabel: row.versionLabel,
    number: row.number,
    pinnedAt: row.pinnedAt.toISOString(),
    pinnedBy: row.pinnedBy === null ? null : toId('user', row.pinnedBy),
  };
}

export function agentPinWire(row: AgentPinRow): AgentPin {
  return { ...pinWire(row), agentId: toId('agent', row.agentId), agentName: row.agentName };
}

export function newAgent(body: Body<typeof createAgent>): AgentInput {
  const { promptId, promptVersionId, ...settings } = body;
  return {
    ...toChange(settings),
    name: body.agentName,
    promptId: fromId('prompt', promptId),
    promptVersionId: fromId('version', promptVersionId),
  };
}

export function agentPatch(body: Body<typeof updateAgent>): AgentPatch {
  const { promptVersionId, apiEnabled, ...settings } = body;
  return {
    change: toChange(settings),
    ...(promptVersionId !== undefined && { promptVersionId: fromId('version', promptVersionId) }),
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
