import type { AgentAtAdmission, Caller, ExecuteCall } from '../core/admission.ts';
import type { RateLimits } from '../core/limits.ts';
import { keyRights } from '../core/member.ts';
import { effective } from '../core/settings.ts';
import type { AgentRow, KeyRow } from '../store/admission-read.ts';
import type { NewExecution } from '../store/admission-write.ts';

/** What admission read, in the words of the core; and what it records, in the words of the store. */

export function callerOfKey(row: KeyRow): Caller {
  return {
    kind: 'key',
    id: row.id,
    workspaceId: row.workspace_id,
    userId: row.issued_by,
    role: row.role,
    rights: row.role === null ? [] : keyRights(row.permissions, row.role),
    ended: row.ended,
    allAgents: row.all_agents,
    agentIds: row.agent_ids,
    limits: limitsOf(row),
    allowedOrigins: row.allowed_origins,
  };
}

export function agentOfRow(row: AgentRow): AgentAtAdmission {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    stage: row.stage,
    archived: row.archived,
    apiEnabled: row.api_enabled,
    visibility: row.visibility,
    createdBy: row.created_by,
    limits: limitsOf(row),
    config: row.config,
    requiredVariables: row.required_variables,
    optionalVariables: row.optional_variables,
    defaults: JSON.parse(row.defaults) as Record<string, unknown>,
    allowedOrigins: row.allowed_origins,
    versionId: row.version_id,
    versionLabel: row.version_label,
    version: row.version,
  };
}

/** The record of a call as it is admitted; what a refusal has otherwise is put over it. */
export function recordOf(
  id: string,
  nowMs: number,
  call: ExecuteCall,
  caller: Caller,
  agent: AgentAtAdmission,
): NewExecution {
  const { model, temperature } = effective(agent.config, agent.version);
  return {
    id,
    workspaceId: caller.workspaceId,
    agentId: agent.id,
    agentName: agent.name,
    promptVersionId: agent.versionId,
    promptVersionLabel: agent.versionLabel,
    apiKeyId: caller.kind === 'key' ? caller.id : null,
    executedBy: caller.userId,
    executedAtMs: nowMs,
    status: 'processing',
    source: sourceOf(caller),
    model: model ?? '',
    temperature,
    errorCode: null,
    error: null,
    ipAddress: call.ipAddress,
    userAgent: call.userAgent,
    inputVariables: null,
    settings: null,
  };
}

export function sourceOf(caller: Caller): 'api' | 'dashboard' {
  return caller.kind === 'key' ? 'api' : 'dashboard';
}

function limitsOf(row: KeyRow | AgentRow): RateLimits {
  return {
    requestsPerMinute: row.requests_per_minute,
    requestsPerHour: row.requests_per_hour,
    requestsPerDay: row.requests_per_day,
  };
}
