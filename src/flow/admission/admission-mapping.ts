import {
  type ExecutionSettings,
  effective,
  executionSettings,
  type WorkflowStepOf,
} from '../../core/agent/model-settings.ts';
import { type Caller, sessionCaller } from '../../core/execution/caller.ts';
import type { AgentAtAdmission, ExecuteCall } from '../../core/execution/decide.ts';
import type { RateLimits } from '../../core/execution/limits.ts';
import { keyRights, type MemberRole } from '../../core/people/member.ts';
import type {
  AdmissionLookup,
  AgentRow,
  KeyRow,
  ReplayLookup,
} from '../../store/admission/admission-read.ts';
import type { ExecutionTerms, NewExecution } from '../../store/admission/admission-write.ts';
import { modelSetupOf } from '../../store/execution/model-setup.ts';
import type { MembershipLookup } from '../../store/people/members.ts';

/** What admission asks and records, in the words of the store; and what it read, in the words of the core. */

/** Whom and what the calls name, each once: many calls of a batch come from one caller. */
export function questionOf(
  calls: readonly ExecuteCall[],
  more: Pick<AdmissionLookup, 'worker' | 'fromTag'>,
): AdmissionLookup {
  const keyHashes = new Set<string>();
  const workspaceIds = new Set<string>();
  const userIds = new Set<string>();
  const agentIds = new Set<string>();
  const steps: WorkflowStepOf[] = [];
  const firstCalls: ReplayLookup[] = [];
  for (const { credential, agentId, idempotencyKey } of calls) {
    if (credential.kind === 'key') keyHashes.add(credential.hash);
    else {
      workspaceIds.add(credential.caller.workspaceId);
      userIds.add(credential.caller.id);
      if (credential.kind === 'workflow') steps.push(credential.step);
    }
    if (agentId !== null) agentIds.add(agentId);
    if (agentId === null || idempotencyKey === null) continue;
    const isKey = credential.kind === 'key';
    firstCalls.push({
      hash: isKey ? credential.hash : null,
      caller: isKey ? null : credential.caller.id,
      agentId,
      key: idempotencyKey,
    });
  }
  return {
    keyHashes: [...keyHashes],
    workspaceIds: [...workspaceIds],
    userIds: [...userIds],
    members: membersOf(calls),
    agentIds: [...agentIds],
    firstCalls,
    steps,
    ...more,
  };
}

type Called = ExecuteCall['credential'];
type OfKey = Extract<Called, { kind: 'key' }>;
type OfSession = Extract<Called, { kind: 'session' }>;

/** The users of sessions, each once in each workspace that it calls in. */
export function membersOf(
  calls: readonly { readonly credential: OfSession | { kind: 'key' | 'workflow' | 'trigger' } }[],
): MembershipLookup {
  const members = new Map<string, MembershipLookup[number]>();
  for (const { credential } of calls) {
    if (credential.kind !== 'session') continue;
    const { workspaceId, id: userId } = credential.caller;
    members.set(memberName(workspaceId, userId), { workspaceId, userId });
  }
  return [...members.values()];
}

/** Who calls, as was read under the locks: by then a key may be revoked, and a member removed or of another role. */
export function callersAmong(
  keys: readonly KeyRow[],
  members: readonly MemberRole[],
): (credential: OfKey | OfSession) => Caller | null {
  const ofKeys = new Map(keys.map((row) => [row.hash, callerOfKey(row)]));
  const ofSessions = new Map(
    members.map((row) => [memberName(row.workspaceId, row.userId), sessionCaller(row)]),
  );
  return (credential) => {
    if (credential.kind === 'key') return ofKeys.get(credential.hash) ?? null;
    const { workspaceId, id } = credential.caller;
    return ofSessions.get(memberName(workspaceId, id)) ?? null;
  };
}

function memberName(workspaceId: string, userId: string): string {
  return `${workspaceId} ${userId}`;
}

/** What a call is told whose caller is not there. */
export const unknownCaller = {
  kind: 'refused' as const,
  code: 'UNAUTHORIZED' as const,
  message: 'The API key or session is not valid.',
  fields: {},
  states: [],
};

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
    storeBodies: row.store_bodies,
    allowedOrigins: row.allowed_origins,
    versionId: row.version_id,
    versionLabel: row.version_label,
    version: row.version,
    setup: modelSetupOf(row),
  };
}

export type AcceptedTerms = ExecutionTerms & { readonly settings: ExecutionSettings };

/** The terms of an accepted call; what a refusal has otherwise is put over them. */
export function termsOf(
  caller: Caller,
  agent: AgentAtAdmission,
  apiKeyId: string | null,
): AcceptedTerms {
  const { model, temperature } = effective(agent.config, agent.version);
  return {
    workspaceId: caller.workspaceId,
    agentId: agent.id,
    agentName: agent.name,
    promptVersionId: agent.versionId,
    promptVersionLabel: agent.versionLabel,
    apiKeyId,
    executedBy: caller.userId,
    status: 'processing',
    source: sources[caller.kind],
    model: model ?? '',
    temperature,
    errorCode: null,
    error: null,
    settings: executionSettings(agent.config, agent.version, agent.defaults, agent.storeBodies),
  };
}

/** The key that a call counts as: of a workflow the one that its run was started with. */
export function apiKeyOf({ credential }: ExecuteCall, caller: Caller): string | null {
  if (credential.kind === 'workflow') return credential.apiKeyId;
  return caller.kind === 'key' ? caller.id : null;
}

const sources = { key: 'api', session: 'dashboard', workflow: 'workflow' } as const;

function limitsOf(row: KeyRow | AgentRow): RateLimits {
  return {
    requestsPerMinute: row.requests_per_minute,
    requestsPerHour: row.requests_per_hour,
    requestsPerDay: row.requests_per_day,
  };
}

/** The step of a workflow's run that a call is made for. */
export function stepOf({ credential }: ExecuteCall): WorkflowStepOf | null {
  return credential.kind === 'workflow' ? credential.step : null;
}

/** Where a call came from. */
export function from({
  ipAddress,
  userAgent,
}: ExecuteCall): Pick<NewExecution, 'ipAddress' | 'userAgent'> {
  return { ipAddress, userAgent };
}

/** What many calls of a batch have in common is made once. */
export function once<T>(made: Map<string, T>, name: string, make: () => T): T {
  const one = made.get(name) ?? make();
  made.set(name, one);
  return one;
}
