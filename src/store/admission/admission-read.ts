import type { Stage, Visibility } from '../../core/agent/agent.ts';
import type { FileKind } from '../../core/agent/file-value.ts';
import type { ModelSettings, WorkflowStepOf } from '../../core/agent/model-settings.ts';
import type { ExecutionStatus } from '../../core/execution/execution.ts';
import type { Counts } from '../../core/execution/limits.ts';
import { hashBytes, type Permission } from '../../core/people/key.ts';
import type { MemberRole, Role } from '../../core/people/member.ts';
import type { PlainStatement, Send } from '../../db/pipeline.ts';
import { begin } from '../../db/statements.ts';
import type { StoredConfig } from '../agent/agent-config.ts';
import { type SetupRow, setupColumns, setupJoins } from '../execution/model-setup.ts';
import { type MembershipLookup, readRoles } from '../people/members.ts';
import { lockReadySteps, type ReadyStep } from '../workflow/workflow-steps.ts';
import {
  type FirstCallLookup,
  type FirstCallRow,
  firstCallsWith,
  readFirstCalls,
} from './idempotency.ts';

/**
 * The first of admission's two batches: it locks, then reads. `admission-write.ts` is the second.
 *
 * Admission decides a batch of calls in one transaction: accepted, refused, or a replay of an earlier call.
 *
 *     batch 1   begin; lock limits (keys, agents, workspaces); read everything that the decision needs
 *     decide    in memory
 *     batch 2   write counts, records, queue rows, idempotency keys, statistics; commit
 *
 * Invariants
 * - Locks are taken in one order everywhere: keys, agents, workspaces, each by id.
 * - Everything is read after the locks, in later statements and so with later snapshots. A key revoked, a member removed or
 *   an agent paused before the lock is seen; a later change waits until the commit.
 * - Counts are exact, because they change only under these locks.
 * - The database clock, read under the locks, decides about windows and expiry.
 *
 * Failure cases
 * - A statement fails: nothing was written, and the caller retries or bisects the batch.
 * - The commit gets no response: the transaction id (`xid`) tells whether it succeeded (`transaction-outcome.ts`).
 */

export interface AdmissionLookup {
  readonly keyHashes: readonly string[];
  /** The workspaces of callers without a key: sessions and workflows. */
  readonly workspaceIds: readonly string[];
  readonly userIds: readonly string[];
  /** The users of sessions, each in the workspace of the call. */
  readonly members: MembershipLookup;
  readonly agentIds: readonly string[];
  readonly firstCalls: readonly FirstCallLookup[];
  /** The workflow steps to call. */
  readonly steps: readonly WorkflowStepOf[];
  /** The worker that would claim accepted executions at once. */
  readonly worker: string | null;
  /** No ready execution has a lower tag. */
  readonly fromTag: number;
}

export interface AdmissionState {
  /** The database time, read under the locks. */
  readonly nowMs: number;
  /** The transaction id, to find the outcome of the commit if it gets no response. */
  readonly xid: string;
  /** The lowest tag of a ready execution; null if there is none. */
  readonly floor: number | null;
  /** Whether the worker has a lease. It cannot lose it before this transaction ends. */
  readonly workerHasLease: boolean;
  readonly keys: KeyRow[];
  /** The requested users that are still members. */
  readonly members: readonly MemberRole[];
  readonly agents: AgentRow[];
  readonly workspaces: WorkspaceRow[];
  readonly counts: ReadonlyMap<string, Counts>;
  readonly replays: ReplayRow[];
  readonly refusals: RefusalRow[];
  /** The requested steps that may be called. They stay locked until this transaction ends. */
  readonly steps: readonly ReadyStep[];
}

export interface LimitColumns {
  readonly requests_per_minute: number | null;
  readonly requests_per_hour: number | null;
  readonly requests_per_day: number | null;
}

export interface KeyRow extends LimitColumns {
  readonly hash: string;
  readonly id: string;
  readonly workspace_id: string;
  readonly permissions: Permission[];
  readonly all_agents: boolean;
  /** The rows of limits that its calls count for: its own, then those of its issuers. */
  readonly limit_subjects: string[];
  /** The keys that issued it, nearest first; null if a person did. */
  readonly issuers: (LimitColumns & { readonly id: string })[] | null;
  readonly allowed_origins: string[];
  readonly issued_by: string | null;
  readonly ended: boolean;
  readonly role: Role | null;
  /** The requested agents that the key is restricted to. */
  readonly agent_ids: string[];
}

export interface AgentRow extends SetupRow, LimitColumns {
  readonly id: string;
  readonly workspace_id: string;
  readonly name: string;
  readonly stage: Stage;
  readonly archived: boolean;
  readonly api_enabled: boolean;
  readonly visibility: Visibility;
  readonly created_by: string | null;
  readonly config: StoredConfig;
  readonly required_variables: string[];
  readonly optional_variables: string[];
  /** The default values as a JSON object. */
  readonly defaults: string;
  readonly store_bodies: boolean;
  readonly allowed_origins: string[];
  readonly version_id: string;
  readonly version_label: string;
  readonly version: ModelSettings;
  readonly message_lists: readonly string[];
  readonly file_variables: Readonly<Record<string, FileKind>>;
  /** JSON text; null if the version has none. */
  readonly variable_schemas: string | null;
  readonly prompt_id: string;
  readonly version_number: number;
  readonly allow_instructions: boolean;
  readonly allow_tools: boolean;
  readonly version_aliases: Readonly<Record<string, string>>;
  /** JSON text; null if the version has none. */
  readonly response_format: string | null;
  /** Null if the version has none. */
  readonly tool_names: readonly string[] | null;
  /** The slots of `maxConcurrency` in use; null without such a limit. */
  readonly slots_used: number | null;
}

export interface WorkspaceRow {
  readonly id: string;
  readonly actions_per_month: number | null;
  readonly month: number;
  readonly month_used: number;
  /** The highest tag of a ready execution in the workspace. */
  readonly last_tag: number | null;
  /** Whether an endpoint subscribes to refusals or to events of the quota. */
  readonly reports: boolean;
  /** The shares of the quota that were reported, as `month * 1000 + percent`. */
  readonly quota_reports: readonly number[];
}

export interface ReplayRow extends FirstCallRow {
  /** The status of the execution now; null if its record is deleted. */
  readonly status: ExecutionStatus | null;
}

export interface RefusalRow {
  readonly caller: string;
  readonly agent_id: string;
  readonly status: string;
  readonly hour: number;
  readonly recorded: number;
}

export async function readForAdmission(
  send: Send,
  request: AdmissionLookup,
): Promise<AdmissionState> {
  const { workspaceIds, userIds, agentIds, firstCalls, worker, fromTag } = request;
  const keyHashes = request.keyHashes.map(hashBytes);
  const subjects = [keyHashes, workspaceIds, agentIds];
  const [, counts, keys, agents, workspaces, clock, refusals, lease, replays, steps, members] =
    await Promise.all([
      send(begin),
      send<Counts & { subject: string }>(lockLimits, subjects),
      send<KeyRow>(readKeys, [keyHashes, agentIds]),
      send<AgentRow>(readAgents, subjects),
      send<WorkspaceRow>(readWorkspaces, [keyHashes, workspaceIds, fromTag]),
      send<{ now_ms: number; xid: string; floor: number | null }>(readClock, [fromTag]),
      send<RefusalRow>(readRefusals, [keyHashes, userIds, agentIds]),
      worker === null ? [] : send(lockWorker, [worker]),
      readFirstCalls<ReplayRow>(send, readReplays, firstCalls),
      request.steps.length === 0 ? [] : lockReadySteps(send, request.steps),
      request.members.length === 0 ? [] : readRoles(send, request.members),
    ]);
  return {
    nowMs: Math.trunc(clock[0]?.now_ms ?? Number.NaN),
    xid: clock[0]?.xid ?? '',
    floor: clock[0]?.floor ?? null,
    workerHasLease: lease.length > 0,
    keys,
    members,
    agents,
    workspaces,
    counts: new Map(counts.map((row) => [row.subject, row])),
    replays,
    refusals,
    steps,
  };
}

/** SQL: the distinct workspaces of keys and other callers. */
const callersWorkspaces =
  'select workspace_id from api_keys where hash = any($1::bytea[]) union select unnest($2::uuid[])';

/** SQL: the columns of `Counts` with their subject. */
export const countsColumns = `subject, minute, minute_used as "minuteUsed", hour, hour_used as "hourUsed", day, day_used as "dayUsed"`;

/**
 * Locks keys and the keys that issued them before agents before workspaces, each by id. A caller can lock only agents of its own workspace. The list is
 * materialized: otherwise PostgreSQL evaluates it again after it has waited for a row, and may lose the row.
 */
const lockLimits: PlainStatement = {
  name: 'admission-lock-limits',
  text: `with subjects as materialized (
      select distinct 1 as kind, unnest(limit_subjects) as subject from api_keys where hash = any($1::bytea[])
      union all
      select 2, id from agents where id = any($3::uuid[]) and workspace_id in (${callersWorkspaces})
      union all
      select 3, * from (${callersWorkspaces}) as workspaces)
    select ${countsColumns} from limits join subjects using (subject)
    order by kind, subject for update of limits`,
};

const readKeys: PlainStatement = {
  name: 'admission-read-keys',
  text: keysWith('agent_id = any($2::uuid[])'),
};

/** Includes all agents of the keys. */
export const readKeysWithAllAgents: PlainStatement = { name: 'read-keys', text: keysWith('true') };

/** SQL: keys by their hashes as `KeyRow`s, with those of their agents that satisfy `condition`. */
function keysWith(condition: string): string {
  return `select encode(k.hash, 'hex') as hash, k.id, k.workspace_id, k.permissions, k.all_agents, k.allowed_origins, k.issued_by,
      k.requests_per_minute, k.requests_per_hour, k.requests_per_day, k.limit_subjects, m.role,
      case when k.issuing_keys <> '{}' then (
        select jsonb_agg(jsonb_build_object('id', i.id, 'requests_per_minute', i.requests_per_minute,
          'requests_per_hour', i.requests_per_hour, 'requests_per_day', i.requests_per_day)
          order by array_position(k.issuing_keys, i.id))
        from api_keys i where i.id = any(k.issuing_keys)) end as issuers,
      k.revoked_at is not null
        or (k.expires_at is not null and k.expires_at <= clock_timestamp()) as ended,
      array(select agent_id from api_key_agents where api_key_id = k.id and ${condition}) as agent_ids
    from api_keys k
    left join members m on m.workspace_id = k.workspace_id and m.user_id = k.issued_by
    where k.hash = any($1::bytea[])`;
}

const readAgents: PlainStatement = {
  name: 'admission-read-agents',
  text: agentsWith(
    'agents a join prompt_versions v on v.id = a.prompt_version_id',
    `a.id = any($3::uuid[]) and a.workspace_id in
      (${callersWorkspaces})`,
  ),
};

/** The agent of a workspace, for an upload of a batch. */
export const readUploadAgent: PlainStatement = {
  name: 'upload-read-agent',
  text: agentsWith(
    'agents a join prompt_versions v on v.id = a.prompt_version_id',
    'a.id = $1 and a.workspace_id = $2',
  ),
};

/** The agent of a batch, with the version that was pinned at its upload. */
export const readBatchAgent: PlainStatement = {
  name: 'batch-read-agent',
  text: agentsWith(
    `batches b join agents a on a.id = b.agent_id
      join prompt_versions v on v.id = b.prompt_version_id`,
    'b.id = $1',
  ),
};

/** SQL: agents `a` with versions `v` as `AgentRow`s. */
function agentsWith(from: string, condition: string): string {
  return `select a.id, a.workspace_id, a.name, a.stage, a.archived_at is not null as archived, a.api_enabled,
      a.visibility, a.created_by, a.config, a.required_variables, a.optional_variables,
      a.default_variable_values as defaults, a.store_bodies, a.requests_per_minute, a.requests_per_hour,
      a.requests_per_day, a.allowed_origins, v.id as version_id, v.label as version_label, v.message_lists,
      v.file_variables,
      jsonb_build_object('model', v.model, 'temperature', v.temperature,
        'maxTokens', v.max_tokens, 'topP', v.top_p, 'settings', v.settings) as version,
      v.variable_schemas, a.prompt_id, v.number as version_number, a.allow_instructions, a.allow_tools, a.version_aliases,
      v.response_format,
      case when v.content is not null then array(
        select tool ->> 'name' from json_array_elements(case when json_typeof(v.content -> 'tools') = 'array'
          then v.content -> 'tools' else '[]' end) as tool) end as tool_names,
      case when a.config ? 'maxConcurrency' then
        (select count(*) from execution_queue q where q.agent_id = a.id and q.has_slot) end as slots_used,
      ${setupColumns}
    from ${from}
      ${setupJoins('a.workspace_id', "coalesce(a.config ->> 'model', v.model)")}
    where a.deleted_at is null and ${condition}`;
}

const readWorkspaces: PlainStatement = {
  name: 'admission-read-workspaces',
  text: `select w.id, w.actions_per_month, l.month, l.month_used,
      (select max(tag) from execution_queue q where q.workspace_id = w.id
        and q.worker is null and q.available_at is null and q.has_slot is not false
        and q.tag >= $3::bigint) as last_tag,
      exists (select from endpoints p where p.workspace_id = w.id and p.enabled
        and p.event_types && '{execution.refused,quota.threshold,quota.exhausted}') as reports,
      case when w.actions_per_month is null then '{}' else
        array(select r.month * 1000 + r.percent from quota_reports r where r.workspace_id = w.id) end as quota_reports
    from workspaces w join limits l on l.subject = w.id
    where w.id in
      (${callersWorkspaces})`,
};

const readClock: PlainStatement = {
  name: 'admission-read-clock',
  text: `select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms, pg_current_xact_id()::text as xid,
      (select min(tag) from execution_queue
        where worker is null and available_at is null and has_slot is not false
          and tag >= $1::bigint) as floor`,
};

const readRefusals: PlainStatement = {
  name: 'admission-read-refusals',
  text: `select caller, agent_id, status, hour, recorded from refusals
    where agent_id = any($3::uuid[]) and caller in
      (select id from api_keys where hash = any($1::bytea[]) union all select unnest($2::uuid[]))`,
};

// The lock keeps the worker, and so its lease, from being swept until this transaction ends.
const lockWorker: PlainStatement = {
  name: 'admission-lock-worker',
  text: `select id from workers where id = $1 and lease_until > clock_timestamp() for key share`,
};

const readReplays = firstCallsWith(
  'admission-read-replays',
  '(select e.status from all_executions e where e.id = i.result) as status',
);
