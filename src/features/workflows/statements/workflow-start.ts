import type { Counts } from '../../../core/agent/limits.ts';
import { hashBytes } from '../../../core/people/key.ts';
import type { MemberRole } from '../../../core/people/member.ts';
import type { WorkflowRunStatus, WorkflowTrigger } from '../../../core/workflow/definition.ts';
import type { ChosenItems } from '../../../core/workflow/rerun.ts';
import type { Send } from '../../../db/pipeline.ts';
import { rowSet } from '../../../db/row-set.ts';
import { sql } from '../../../db/sql.ts';
import { statement } from '../../../db/statement.ts';
import { begin, commit } from '../../../db/statements.ts';
import {
  countsColumns,
  type KeyRow,
  readKeysWithAllAgents,
} from '../../../engine/admit/admission-read.ts';
import { updateCounts } from '../../../engine/admit/admission-write.ts';
import {
  type FirstCallLookup,
  type FirstCallRow,
  firstCallsWith,
  insertFirstCalls,
  type NewFirstCall,
} from '../../../engine/admit/idempotency.ts';
import { type MembershipLookup, readRoles } from '../../../engine/admit/roles.ts';
import type { ProgressWrites } from '../../../engine/advance/workflow-progress.ts';
import { type Completed, writeCompletion } from '../../../engine/complete/completion.ts';

/**
 * Starts workflow runs, with the two batches of admission (`admission-read.ts`): lock the limits of the callers and read what
 * these locks protect; then write everything and commit.
 */

export interface StartLookup {
  readonly keyHashes: readonly string[];
  /** The workspaces of callers without a key. Their lock prevents concurrent use of an Idempotency-Key. */
  readonly workspaceIds: readonly string[];
  /** The users of sessions, each in the workspace of the call. */
  readonly members: MembershipLookup;
  readonly workflowIds: readonly string[];
  readonly firstCalls: readonly FirstCallLookup[];
  /** Runs whose items run again. Their lock keeps an erasure from deleting them before it can see who has their values. */
  readonly rerunIds: readonly string[];
  /** Whether a run may have a limit of its cost. */
  readonly isLimited: boolean;
}

export interface WorkflowRow {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly versionId: string | null;
  readonly versionLabel: string | null;
  /** The creators of private agents that the version names, including fallbacks and deleted agents. */
  readonly privateCreators: (string | null)[];
  /** Whether all agents of the version store bodies. */
  readonly storesBodies: boolean;
}

export interface FirstWorkflowRun extends FirstCallRow {
  readonly status: WorkflowRunStatus;
  readonly executedAtMs: number;
  readonly versionId: string;
  readonly versionLabel: string;
}

export interface StartState {
  readonly nowMs: number;
  readonly xid: string;
  readonly keys: readonly KeyRow[];
  /** The requested users that are still members. */
  readonly members: readonly MemberRole[];
  readonly counts: ReadonlyMap<string, Counts>;
  readonly workflows: readonly WorkflowRow[];
  readonly replays: readonly FirstWorkflowRun[];
  /** Those of the requested runs that still exist. */
  readonly rerunIds: ReadonlySet<string>;
  /** Whether all workers keep limits of the cost of workflow runs. */
  readonly isLimitKept: boolean;
}

export async function readForStart(send: Send, request: StartLookup): Promise<StartState> {
  const { workspaceIds, workflowIds, firstCalls, rerunIds, members: lookup } = request;
  const keyHashes = request.keyHashes.map(hashBytes);
  const [, counts, , keys, workflows, clock, replays, members, reruns, careless] =
    await Promise.all([
      send(begin),
      send(lockKeys, keyHashes),
      workspaceIds.length > 0 ? send(lockWorkspaces, workspaceIds) : [],
      send(readKeysWithAllAgents, { keyHashes }),
      send(readWorkflows, workflowIds),
      send(readClock),
      firstCalls.length === 0 ? [] : send(readReplays, firstCalls),
      lookup.length === 0 ? [] : readRoles(send, lookup),
      rerunIds.length === 0 ? [] : send(lockRuns, rerunIds),
      request.isLimited ? send(findCareless) : [],
    ]);
  return {
    nowMs: Math.trunc(clock[0]?.nowMs ?? Number.NaN),
    xid: clock[0]?.xid ?? '',
    keys,
    members,
    counts: new Map(counts.map((row) => [row.subject, row])),
    workflows,
    replays,
    rerunIds: new Set(reruns.map(({ id }) => id)),
    isLimitKept: careless.length === 0,
  };
}

export interface NewWorkflowRun {
  readonly id: string;
  readonly workspaceId: string;
  readonly workflowId: string;
  readonly versionId: string;
  readonly trigger: WorkflowTrigger;
  readonly apiKeyId: string | null;
  readonly executedBy: string | null;
  readonly deadlineMs: number;
  readonly input: string;
  /** JSON text; null if it has none. */
  readonly labels: string | null;
  /** Decimal text; null for no limit. */
  readonly maxCostUsd: string | null;
  /** If false, the input is removed at the end, and the output a while later. */
  readonly storeBodies: boolean;
  /** The run whose items it runs again, and which. */
  readonly rerun: (ChosenItems & { readonly runId: string }) | null;
}

export interface StartWrites {
  readonly executedAtMs: number;
  readonly counts: ReadonlyMap<string, Counts>;
  readonly runs: readonly NewWorkflowRun[];
  readonly firstCalls: readonly NewFirstCall[];
  readonly progress: ProgressWrites;
}

/** There are no executions to stop, because a new run has called no agent yet. */
export async function writeStart(send: Send, writes: StartWrites): Promise<Completed> {
  const { counts, runs, firstCalls, executedAtMs } = writes;
  const [, , , completed] = await Promise.all([
    counts.size > 0 ? updateCounts(send, counts) : [],
    runs.length > 0 ? send(insertRuns, { runs, executedAtMs }) : [],
    insertFirstCalls(send, firstCalls),
    writeCompletion(send, { progress: writes.progress }),
    send(commit),
  ]);
  return completed;
}

const lockKeys = statement<readonly Buffer[], Counts & { subject: string }>('start-lock-keys')`
  select ${countsColumns} from limits
  where subject in (select unnest(limit_subjects) from api_keys where hash = any(${(hashes) => hashes}::bytea[]))
  order by subject for update`;

const lockWorkspaces = statement<readonly string[]>('start-lock-workspaces')`
  select subject from limits where subject = any(${(ids) => ids}::uuid[]) order by subject for update`;

const lockRuns = statement<readonly string[], { id: string }>('start-lock-runs')`
  select id from workflow_runs where id = any(${(ids) => ids}::uuid[]) order by id for key share`;

const findCareless = statement<void, object>('start-find-careless-workers')`
  select from workers where not keeps_run_limits limit 1`;

const readWorkflows = statement<readonly string[], WorkflowRow>('start-read-workflows')`
  select w.id, w.workspace_id, w.name, w.enabled, v.id as version_id, v.label as version_label,
    array(select a.created_by from agents a
      where a.id = any(v.agent_ids) and a.visibility = 'private') as private_creators,
    not exists (select from agents a where a.id = any(v.agent_ids) and not a.store_bodies) as stores_bodies
  from workflows w left join workflow_versions v on v.id = w.workflow_version_id
  where w.id = any(${(ids) => ids}::uuid[]) and w.deleted_at is null`;

const readClock = statement<void, { nowMs: number; xid: string }>('start-read-clock')`
  select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms, pg_current_xact_id()::text as xid`;

const readReplays = firstCallsWith<FirstWorkflowRun>(
  'start-read-replays',
  sql`r.status, v.id as version_id, v.label as version_label,
      (extract(epoch from r.executed_at) * 1000)::float8 as executed_at_ms`,
  sql`join workflow_runs r on r.id = i.result join workflow_versions v on v.id = r.workflow_version_id`,
);

const newRuns = rowSet<NewWorkflowRun, Pick<StartWrites, 'runs'>>(
  'r',
  {
    id: ['uuid', (run) => run.id],
    workspace_id: ['uuid', (run) => run.workspaceId],
    workflow_id: ['uuid', (run) => run.workflowId],
    version_id: ['uuid', (run) => run.versionId],
    trigger: ['text', (run) => run.trigger],
    api_key_id: ['uuid', (run) => run.apiKeyId],
    executed_by: ['uuid', (run) => run.executedBy],
    deadline_ms: ['float8', (run) => run.deadlineMs],
    input: ['text', (run) => run.input],
    store_bodies: ['bool', (run) => run.storeBodies],
    labels: ['json', (run) => run.labels],
    max_cost_usd: ['numeric', (run) => run.maxCostUsd],
    rerun_of: ['uuid', (run) => run.rerun?.runId],
    rerun_step: ['text', (run) => run.rerun?.step],
    rerun_items: ['json', (run) => run.rerun && JSON.stringify(run.rerun.items)],
  },
  { read: ({ runs }) => runs },
);

const insertRuns = statement<Pick<StartWrites, 'runs' | 'executedAtMs'>>('start-insert-runs')`
  with r as (select * from ${newRuns.table}),
  reruns as (
    insert into workflow_reruns (run_id, rerun_of, step, items)
    select id, rerun_of, rerun_step, array(select value::int from json_array_elements_text(rerun_items)) from r where rerun_of is not null)
  insert into workflow_runs (id, workspace_id, workflow_id, workflow_version_id, trigger, status, api_key_id,
    executed_by, executed_at, deadline_at, input, bodies, labels, max_cost_usd)
  select id, workspace_id, workflow_id, version_id, trigger, 'processing', api_key_id, executed_by,
    ${({ executedAtMs }) => new Date(executedAtMs).toISOString()}::timestamptz,
    to_timestamp(deadline_ms / 1000), input::json, case when store_bodies then 'stored' else 'transient' end, labels,
    max_cost_usd
  from r`;
