import type { Counts, RateLimits } from '../../core/agent/limits.ts';
import type { WorkflowStepOf } from '../../core/agent/model-settings.ts';
import type { Budget } from '../../core/budget/budget.ts';
import type { AgentAtAdmission, MonthCount } from '../../core/execution/decide.ts';
import type { ExecutionStatus } from '../../core/execution/execution.ts';
import type { Caller } from '../../core/people/caller.ts';
import { hashBytes, type Permission } from '../../core/people/key.ts';
import type { MemberRole } from '../../core/people/member.ts';
import type { Send } from '../../db/pipeline.ts';
import { rowSet } from '../../db/row-set.ts';
import { sql } from '../../db/sql.ts';
import { type Fragment, type Statement, statement } from '../../db/statement.ts';
import { begin } from '../../db/statements.ts';
import { lockReadySteps, type ReadyStep } from '../advance/workflow-steps.ts';
import { budgetsOfWorkspace } from '../budgets/budget-windows.ts';
import { type SetupRow, setupColumns, setupJoins } from '../run/model-setup.ts';
import type { RefusalCount } from './admission-write.ts';
import type { StoredConfig } from './agent-config.ts';
import { type FirstCallLookup, type FirstCallRow, firstCallsWith } from './idempotency.ts';
import { type MembershipLookup, readRoles } from './roles.ts';

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
  /** What calls execute instead of the pinned versions of their agents. */
  readonly drafts: readonly DraftLookup[];
  readonly firstCalls: readonly FirstCallLookup[];
  /** The workflow steps to call. */
  readonly steps: readonly WorkflowStepOf[];
  /** The worker that would claim accepted executions at once. */
  readonly worker: string | null;
  /** No ready execution has a lower tag. */
  readonly fromTag: number;
}

export interface DraftLookup {
  readonly agentId: string;
  readonly versionId: string;
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
  /** The agents of drafts, with these in the place of their versions. */
  readonly drafts: readonly AgentRow[];
  readonly workspaces: WorkspaceRow[];
  readonly counts: ReadonlyMap<string, Counts>;
  readonly replays: ReplayRow[];
  readonly refusals: RefusalCount[];
  /** The requested steps that may be called. They stay locked until this transaction ends. */
  readonly steps: readonly ReadyStep[];
}

/** A key as a caller, whose `limits` are its columns. */
export interface KeyRow
  extends RateLimits,
    Omit<Caller, 'kind' | 'rights' | 'limits' | 'countedKeys' | 'via'> {
  readonly hash: string;
  readonly permissions: Permission[];
  /** The rows of limits that its calls count for: its own, then those of its issuers. */
  readonly limitSubjects: string[];
  /** The keys that issued it, nearest first; null if a person did. */
  readonly issuers: (RateLimits & { readonly id: string })[] | null;
}

export interface AgentRow
  extends SetupRow,
    RateLimits,
    Omit<
      AgentAtAdmission,
      'limits' | 'config' | 'formatText' | 'defaults' | 'setup' | 'isBudgeted'
    > {
  readonly config: StoredConfig;
  /** The default values as a JSON object. */
  readonly defaults: string;
  /** The slots of `maxConcurrency` in use; null without such a limit. */
  readonly slotsUsed: number | null;
}

export interface WorkspaceRow extends MonthCount {
  readonly id: string;
  /** The highest tag of a ready execution in the workspace. */
  readonly lastTag: number | null;
  /** Whether an endpoint subscribes to refusals or to events of the quota. */
  readonly reports: boolean;
  /** Null for none. */
  readonly budgets: readonly Budget[] | null;
  /** The shares of the quota that were reported, as `month * 1000 + percent`. */
  readonly quotaReports: readonly number[];
}

export interface ReplayRow extends FirstCallRow {
  /** The status of the execution now; null if its record is deleted. */
  readonly status: ExecutionStatus | null;
}

/** @param isBegun whether the transaction has begun */
export async function readForAdmission(
  send: Send,
  request: AdmissionLookup,
  isBegun = false,
): Promise<AdmissionState> {
  const lookup = { ...request, keyHashes: request.keyHashes.map(hashBytes) };
  const [
    ,
    counts,
    keys,
    agents,
    workspaces,
    [clock],
    refusals,
    lease,
    replays,
    steps,
    members,
    drafts,
  ] = await Promise.all([
    isBegun ? [] : send(begin),
    send(lockLimits, lookup),
    send(readKeys, lookup),
    send(readAgents, lookup),
    send(readWorkspaces, lookup),
    send(readClock, lookup),
    send(readRefusals, lookup),
    lookup.worker === null ? [] : send(lockWorker, lookup),
    lookup.firstCalls.length === 0 ? [] : send(readReplays, lookup.firstCalls),
    lookup.steps.length === 0 ? [] : lockReadySteps(send, lookup.steps),
    lookup.members.length === 0 ? [] : readRoles(send, lookup.members),
    lookup.drafts.length === 0 ? [] : send(readDraftAgents, lookup),
  ]);
  return {
    nowMs: Math.trunc(clock?.nowMs ?? Number.NaN),
    xid: clock?.xid ?? '',
    floor: clock?.floor ?? null,
    workerHasLease: lease.length > 0,
    counts: new Map(counts.map((row) => [row.subject, row])),
    ...{ keys, members, agents, workspaces, replays, refusals, steps, drafts },
  };
}

interface KeyLookup {
  readonly keyHashes: readonly Buffer[];
}

type Lookup = Omit<AdmissionLookup, 'keyHashes'> & KeyLookup;

const keyHashes = (lookup: KeyLookup) => lookup.keyHashes;
const agentIds = (lookup: Lookup) => lookup.agentIds;
const fromTag = (lookup: Lookup) => lookup.fromTag;

/** SQL: the distinct workspaces of keys and other callers. */
const callersWorkspaces = sql`
  select workspace_id from api_keys where hash = any(${keyHashes}::bytea[])
  union select unnest(${(lookup: Lookup) => lookup.workspaceIds}::uuid[])`;

/** SQL: the columns of `Counts` with their subject. */
export const countsColumns = sql`subject, minute, minute_used, hour, hour_used, day, day_used`;

/**
 * Locks keys and the keys that issued them before agents before workspaces, each by id. A caller can lock only agents of its own workspace. The list is
 * materialized: otherwise PostgreSQL evaluates it again after it has waited for a row, and may lose the row.
 */
const lockLimits = statement<Lookup, Counts & { subject: string }>('admission-lock-limits')`
  with subjects as materialized (
    select distinct 1 as kind, unnest(limit_subjects) as subject from api_keys where hash = any(${keyHashes}::bytea[])
    union all
    select 2, id from agents where id = any(${agentIds}::uuid[]) and workspace_id in (${callersWorkspaces})
    union all
    select 3, * from (${callersWorkspaces}) as workspaces)
  select ${countsColumns} from limits join subjects using (subject)
  order by kind, subject for update of limits`;

const readKeys = keysWith<Lookup>('admission-read-keys', sql`agent_id = any(${agentIds}::uuid[])`);

/** Includes all agents of the keys. */
export const readKeysWithAllAgents = keysWith<KeyLookup>('read-keys', sql`true`);

/** Reads keys by their hashes, with those of their agents that satisfy `condition`. */
function keysWith<Input extends KeyLookup>(
  name: string,
  condition: Fragment<Input>,
): Statement<Input, KeyRow> {
  return statement<Input, KeyRow>(name)`
    select encode(k.hash, 'hex') as hash, k.id, k.workspace_id, k.permissions, k.all_agents, k.allowed_origins,
      k.issued_by as user_id, k.requests_per_minute, k.requests_per_hour, k.requests_per_day, k.limit_subjects, m.role,
      case when k.issuing_keys <> '{}' then (
        select jsonb_agg(jsonb_build_object('id', i.id, 'requestsPerMinute', i.requests_per_minute,
          'requestsPerHour', i.requests_per_hour, 'requestsPerDay', i.requests_per_day)
          order by array_position(k.issuing_keys, i.id))
        from api_keys i where i.id = any(k.issuing_keys)) end as issuers,
      k.revoked_at is not null
        or (k.expires_at is not null and k.expires_at <= clock_timestamp()) as ended,
      array(select agent_id from api_key_agents where api_key_id = k.id and ${condition}) as agent_ids
    from api_keys k
    left join members m on m.workspace_id = k.workspace_id and m.user_id = k.issued_by
    where k.hash = any(${keyHashes}::bytea[])`;
}

const pinnedAgents = sql`agents a join prompt_versions v on v.id = a.prompt_version_id`;

const readAgents = agentsWith<Lookup>(
  'admission-read-agents',
  pinnedAgents,
  sql`a.id = any(${agentIds}::uuid[]) and a.workspace_id in (${callersWorkspaces})`,
);

const requestedDrafts = rowSet<DraftLookup, Lookup>(
  'd',
  { agent_id: ['uuid', (one) => one.agentId], version_id: ['uuid', (one) => one.versionId] },
  { read: ({ drafts }) => drafts },
);

/** The agents of drafts. A draft may have other placeholders than the agent declares: they are optional. */
const readDraftAgents = agentsWith<Lookup>(
  'admission-read-draft-agents',
  sql`${requestedDrafts.table} join agents a on a.id = d.agent_id
    join prompt_versions v on v.id = d.version_id and v.draft_agent_id = a.id`,
  sql`a.workspace_id in (${callersWorkspaces})`,
  {
    required: sql`array(select name from unnest(a.required_variables) as name where name = any (v.variables))`,
    optional: sql`a.optional_variables || v.variables`,
  },
);

/** The agent of a workspace, for an upload of a batch. */
export const readUploadAgent = agentsWith<OwnedAgent>(
  'upload-read-agent',
  pinnedAgents,
  sql`a.id = ${({ id }: OwnedAgent) => id} and a.workspace_id = ${(one: OwnedAgent) => one.workspaceId}`,
);

type OwnedAgent = Pick<AgentRow, 'id' | 'workspaceId'>;

/** The agent of a batch, by the id of the batch, with the version that was pinned at its upload. */
export const readBatchAgent = agentsWith<string>(
  'batch-read-agent',
  sql`batches b join agents a on a.id = b.agent_id
    join prompt_versions v on v.id = b.prompt_version_id`,
  sql`b.id = ${(id: string) => id}`,
);

/** Reads agents `a` with versions `v`. */
function agentsWith<Input>(
  name: string,
  from: Fragment<Input>,
  condition: Fragment<Input>,
  variables = { required: sql`a.required_variables`, optional: sql`a.optional_variables` },
): Statement<Input, AgentRow> {
  return statement<Input, AgentRow>(name)`
    select a.id, a.workspace_id, a.name, a.stage, a.archived_at is not null as archived, a.api_enabled,
      a.visibility, a.created_by, a.config, ${variables.required} as required_variables,
      ${variables.optional} as optional_variables,
      a.default_variable_values as defaults, a.store_bodies, a.requests_per_minute, a.requests_per_hour,
      a.requests_per_day, a.allowed_origins, v.id as version_id, v.label as version_label, v.message_lists,
      v.file_variables,
      jsonb_build_object('model', v.model, 'temperature', v.temperature,
        'maxTokens', v.max_tokens, 'topP', v.top_p, 'settings', v.settings) as version,
      v.variable_schemas, a.prompt_id, v.number as version_number, a.allow_instructions, a.allow_tools, a.version_aliases,
      v.response_format,
      case when v.content is not null then array(
        select tool ->> 'name' from json_array_elements(case when json_typeof(v.content -> 'tools') = 'array'
          then v.content -> 'tools' else '[]' end) as tool) else '{}' end as tool_names,
      case when v.content -> 'executedTools' is not null then array(
        select distinct bound.value from json_array_elements(v.content -> 'executedTools') as tool
          cross join json_each_text(tool -> 'bind') as bound order by 1) end as bound_values,
      case when a.config ? 'maxConcurrency' then
        (select count(*) from execution_queue q where q.agent_id = a.id and q.has_slot) end as slots_used,
      ${setupColumns}
    from ${from}
      ${setupJoins(sql`a.workspace_id`, sql`coalesce(a.config ->> 'model', v.model)`)}
    where a.deleted_at is null and ${condition}`;
}

const readWorkspaces = statement<Lookup, WorkspaceRow>('admission-read-workspaces')`
  select w.id, w.actions_per_month, l.month, l.month_used as used,
    (select max(tag) from execution_queue q where q.workspace_id = w.id
      and q.worker is null and q.available_at is null and q.has_slot is not false
      and q.tag >= ${fromTag}::bigint) as last_tag,
    exists (select from endpoints p where p.workspace_id = w.id and p.enabled
      and p.event_types && '{execution.refused,quota.threshold,quota.exhausted}') as reports,
    ${budgetsOfWorkspace} as budgets,
    case when w.actions_per_month is null then '{}' else
      array(select r.month * 1000 + r.percent from quota_reports r where r.workspace_id = w.id) end as quota_reports
  from workspaces w join limits l on l.subject = w.id
  where w.id in (${callersWorkspaces})`;

const readClock = statement<Lookup, Pick<AdmissionState, 'nowMs' | 'xid' | 'floor'>>(
  'admission-read-clock',
)`
  select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms, pg_current_xact_id()::text as xid,
    (select min(tag) from execution_queue
      where worker is null and available_at is null and has_slot is not false
        and tag >= ${fromTag}::bigint) as floor`;

const readRefusals = statement<Lookup, RefusalCount>('admission-read-refusals')`
  select caller, agent_id, status, hour, recorded from refusals
  where agent_id = any(${agentIds}::uuid[]) and caller in
    (select id from api_keys where hash = any(${keyHashes}::bytea[])
      union all select unnest(${({ userIds }) => userIds}::uuid[]))`;

// The lock keeps the worker, and so its lease, from being swept until this transaction ends.
const lockWorker = statement<Lookup>('admission-lock-worker')`
  select id from workers where id = ${({ worker }) => worker} and lease_until > clock_timestamp() for key share`;

const readReplays = firstCallsWith<ReplayRow>(
  'admission-read-replays',
  sql`(select e.status from all_executions e where e.id = i.result) as status`,
);
