import type { Counts, KeyWindows, RateLimits } from '../../core/agent/limits.ts';
import {
  effective,
  executionSettings,
  type WorkflowStepOf,
} from '../../core/agent/model-settings.ts';
import type { Refusal } from '../../core/execution/check-call.ts';
import type { AgentAtAdmission, ExecuteCall } from '../../core/execution/decide.ts';
import { type StoredSource, storedSource } from '../../core/execution/execution.ts';
import { type Caller, sessionCaller } from '../../core/people/caller.ts';
import { keyRights, type MemberRole } from '../../core/people/member.ts';
import { modelSetupOf } from '../run/model-setup.ts';
import type { AdmissionLookup, AgentRow, DraftLookup, KeyRow } from './admission-read.ts';
import type { AcceptedTerms } from './admission-write.ts';
import { agentConfigOf } from './agent-config.ts';
import type { CallerLookup, FirstCallLookup } from './idempotency.ts';
import type { MembershipLookup } from './roles.ts';

/** Maps between calls and rows: what admission looks up and records, and what it has read. */

/** What must be read for the calls. Each id appears once, because many calls of a batch share a caller or an agent. */
export function lookupOf(
  calls: readonly ExecuteCall[],
  claim: Pick<AdmissionLookup, 'worker' | 'fromTag'>,
): AdmissionLookup {
  const keyHashes = new Set<string>();
  const workspaceIds = new Set<string>();
  const userIds = new Set<string>();
  const agentIds = new Set<string>();
  const steps: WorkflowStepOf[] = [];
  const firstCalls: FirstCallLookup[] = [];
  const drafts: DraftLookup[] = [];
  for (const { credential, agentId, idempotencyKey, body } of calls) {
    if (credential.kind === 'key') keyHashes.add(credential.hash);
    else {
      workspaceIds.add(credential.caller.workspaceId);
      userIds.add(credential.caller.id);
      if (credential.kind === 'workflow') steps.push(credential.step);
    }
    if (agentId !== null) agentIds.add(agentId);
    const versionId = draftOf(body);
    if (agentId !== null && versionId !== null) drafts.push({ agentId, versionId });
    if (agentId === null || idempotencyKey === null) continue;
    firstCalls.push({ ...callerLookup(credential), target: agentId, key: idempotencyKey });
  }
  return {
    keyHashes: [...keyHashes],
    workspaceIds: [...workspaceIds],
    userIds: [...userIds],
    members: membersOf(calls),
    agentIds: [...agentIds],
    drafts,
    firstCalls,
    steps,
    ...claim,
  };
}

/** The stored draft that a call executes; null if it executes the pinned version. */
export function draftOf(body: ExecuteCall['body']): string | null {
  return body.kind === 'variables' ? (body.draft?.versionId ?? null) : null;
}

/** How the caller of a first call is looked up. */
export function callerLookup(
  credential: KeyCredential | { readonly kind: string; readonly caller: { readonly id: string } },
): CallerLookup {
  return 'hash' in credential
    ? { hash: credential.hash, caller: null }
    : { hash: null, caller: credential.caller.id };
}

type Credential = ExecuteCall['credential'];
type KeyCredential = Extract<Credential, { kind: 'key' }>;
type SessionCredential = Extract<Credential, { kind: 'session' }>;

/** The users of sessions, once per workspace. */
export function membersOf(
  calls: readonly {
    readonly credential: SessionCredential | { kind: 'key' | 'workflow' | 'trigger' };
  }[],
): MembershipLookup {
  const members = new Map<string, MembershipLookup[number]>();
  for (const { credential } of calls) {
    if (credential.kind !== 'session') continue;
    const { workspaceId, id: userId } = credential.caller;
    members.set(memberKey(workspaceId, userId), { workspaceId, userId });
  }
  return [...members.values()];
}

/** Resolves callers from what was read under the locks: a key may be revoked, a member removed or its role changed. */
export function callerResolver(
  keys: readonly KeyRow[],
  members: readonly MemberRole[],
): (credential: KeyCredential | SessionCredential) => Caller | null {
  const ofKeys = new Map(keys.map((row) => [row.hash, callerOfKey(row)]));
  const ofSessions = new Map(
    members.map((row) => [memberKey(row.workspaceId, row.userId), sessionCaller(row)]),
  );
  return (credential) => {
    if (credential.kind === 'key') return ofKeys.get(credential.hash) ?? null;
    const { workspaceId, id } = credential.caller;
    return ofSessions.get(memberKey(workspaceId, id)) ?? null;
  };
}

function memberKey(workspaceId: string, userId: string): string {
  return `${workspaceId} ${userId}`;
}

/** The refusal of a call with an invalid credential. It leaves no record. */
export const unknownCaller: Refusal = {
  kind: 'refused',
  code: 'UNAUTHORIZED',
  message: 'The API key or session is not valid.',
  fields: {},
  states: [],
  record: null,
};

export function callerOfKey({
  hash: _,
  permissions,
  limitSubjects,
  issuers,
  ...row
}: KeyRow): Caller {
  return {
    ...row,
    kind: 'key',
    rights: row.role === null ? [] : keyRights(permissions, row.role),
    limits: limitsOf(row),
    countedKeys: [row, ...(issuers ?? [])].map((key, index) => ({
      apiKeyId: key.id,
      limitSubject: limitSubjects[index] ?? key.id,
      limits: limitsOf(key),
    })),
  };
}

/** The windows that a call counts for. Adds their counts to those to write. */
export function keyWindowsOf(
  { countedKeys }: Caller,
  counts: ReadonlyMap<string, Counts>,
  toWrite: Map<string, Counts>,
): KeyWindows[] {
  return countedKeys.map(({ apiKeyId, limitSubject, limits }) => {
    const counted = counts.get(limitSubject);
    if (!counted) throw new Error('A key has no row of limits.');
    toWrite.set(limitSubject, counted);
    return { apiKeyId, limits, counts: counted };
  });
}

export function agentOfRow(row: AgentRow): AgentAtAdmission {
  return {
    ...row,
    limits: limitsOf(row),
    config: agentConfigOf(row.config),
    formatText: row.config.responseFormat ?? row.responseFormat,
    defaults: JSON.parse(row.defaults) as Record<string, unknown>,
    setup: modelSetupOf(row),
    // Who has read the workspace knows better.
    isBudgeted: false,
  };
}

/** The terms of an accepted call. A refusal replaces its settings by a status and an error. */
export function termsOf(
  caller: Caller,
  agent: AgentAtAdmission,
  {
    apiKeyId,
    source,
    stream = null,
  }: {
    readonly apiKeyId: string | null;
    readonly source: StoredSource;
    /** Replaces the agent's setting, if given. */
    readonly stream?: boolean | null;
  },
): AcceptedTerms {
  const { model, temperature } = effective(agent.config, agent.version);
  const config = stream === null ? agent.config : { ...agent.config, stream };
  return {
    workspaceId: caller.workspaceId,
    agentId: agent.id,
    agentName: agent.name,
    promptVersionId: agent.versionId,
    promptVersionLabel: agent.versionLabel,
    apiKeyId,
    executedBy: caller.userId,
    source,
    model: model ?? '',
    temperature,
    settings: executionSettings(config, agent.version, agent.defaults, {
      storeBodies: agent.storeBodies,
      executesTools: agent.boundValues !== null,
    }),
  };
}

/** The key that a call counts for. A step counts for the key that started its workflow run. */
export function apiKeyOf({ credential }: ExecuteCall, caller: Caller): string | null {
  if (credential.kind === 'workflow') return credential.apiKeyId;
  return caller.kind === 'key' ? caller.id : null;
}

const sources = { key: 'api', session: 'dashboard', workflow: 'workflow' } as const;

/** Where a call comes from. A batch belongs to the API, even if a session uploads it. */
export function sourceOfCall({ body, batchLine }: ExecuteCall, caller: Caller): StoredSource {
  if (batchLine) return 'api';
  const isMarked = body.kind === 'variables' && body.playground === true;
  return storedSource(sources[caller.kind], isMarked);
}

function limitsOf({ requestsPerMinute, requestsPerHour, requestsPerDay }: RateLimits): RateLimits {
  return { requestsPerMinute, requestsPerHour, requestsPerDay };
}

/** What executions and records of refusals keep of a call. A malformed body has no labels. */
export function admittedOf({ credential, body, ipAddress, userAgent, batchLine }: ExecuteCall) {
  const isCall = body.kind === 'variables' || body.kind === 'conversation';
  return {
    ...{ ipAddress, userAgent, batchLine: batchLine ?? null },
    labels: isCall ? body.labels : null,
    step: credential.kind === 'workflow' ? credential.step : null,
    rerunOf: body.kind === 'variables' ? (body.rerunOf ?? null) : null,
    background: body.kind === 'conversation' ? (body.background ?? null) : null,
  };
}

/** What a call asks for instead of the agent's setting; null for that. */
export function streamOf({ body }: ExecuteCall): boolean | null {
  const isCall = body.kind === 'variables' || body.kind === 'conversation';
  return isCall ? (body.stream ?? null) : null;
}

/** Shares values between the calls of a batch. */
export function getOrCreate<T>(values: Map<string, T>, key: string, create: () => T): T {
  const value = values.get(key) ?? create();
  values.set(key, value);
  return value;
}

/** Identifies a first call: a key is unique for its caller and what it called. */
export function idempotencyId(callerId: string, target: string, key: string): string {
  return `${callerId} ${target} ${key}`;
}
