import type { ErasedValue } from '../../../core/history/erased-value.ts';
import { everything } from '../../../core/history/history-range.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { aboveFloor } from '../../../db/id-bounds.ts';
import { type Page, readPage } from '../../../db/page.ts';
import type { Send } from '../../../db/pipeline.ts';
import { type Sql, sql } from '../../../db/sql.ts';
import { statement } from '../../../db/statement.ts';
import { recordHasLabel } from '../../../engine/complete/erased-labels.ts';

/**
 * Erasures delete all records of one end user: those with a given `user`, tag or value of the metadata, or in which a
 * variable has a given value. Processes of an earlier version use the view `erasures`, which has no erasures by tag or metadata.
 *
 * States: open (it scans the records from the newest to the oldest), waiting (executions or workflow runs that it found have
 * not ended), completed (its value is deleted).
 *
 * Invariants: the position is stored together with the deletion, so a crash repeats nothing and skips nothing. What it found
 * but could not delete yet is listed in `erasure_executions` and `erasure_workflow_runs`.
 */

export interface ErasureRow {
  readonly id: string;
  readonly agentId: string | null;
  readonly variable: string | null;
  readonly label: ErasedValue['label'];
  readonly labelName: string | null;
  readonly requestedBy: string | null;
  readonly requestedAt: Date;
  readonly deleted: number;
  /** How many executions and workflow runs have to end first. */
  readonly waiting: number;
  readonly completedAt: Date | null;
  /** The schedules whose input contained the value at the request. */
  readonly schedules: string[];
}

export interface NewErasure extends ErasedValue {
  readonly id: string;
  readonly workspaceId: string;
  readonly agentId: string | null;
  readonly requestedBy: string | null;
}

/** Scans everything that exists now, because all existing ids are lower. */
export async function insertErasure(
  trx: Trx,
  erasure: NewErasure & Partial<Pick<ErasureRow, 'schedules'>>,
): Promise<void> {
  await sql`
    insert into erasure_requests (id, workspace_id, agent_id, variable, label, label_name, value, requested_by, schedules,
      down_to, workflow_runs_down_to)
    select ${erasure.id}, ${erasure.workspaceId}, ${erasure.agentId}, ${erasure.variable}, ${erasure.label},
      ${erasure.labelName}, ${erasure.value}, ${erasure.requestedBy}, ${erasure.schedules ?? []}::uuid[], top, top
    from id_floor(clock_timestamp() + interval '1 millisecond') as top`.execute(trx);
}

/** Extends a new erasure to everything that exists by now. */
export async function extendErasure(trx: Trx, erasureId: string): Promise<void> {
  await sql`
    update erasure_requests set down_to = top, workflow_runs_down_to = top
    from id_floor(clock_timestamp() + interval '1 millisecond') as top
    where id = ${erasureId}`.execute(trx);
}

/** Locks the workspace's row, so that two concurrent requests together cannot exceed the limit. */
export async function countOpenErasures(trx: Trx, workspaceId: string): Promise<number> {
  await sql`select from workspaces where id = ${workspaceId} for no key update`.execute(trx);
  const { rows } = await sql<{ open: number }>`
    select count(*) as open from erasure_requests
    where workspace_id = ${workspaceId} and completed_at is null`.execute(trx);
  return rows[0]?.open ?? 0;
}

const columns = sql`e.id, e.agent_id, e.variable, e.label, e.label_name, e.requested_by, e.requested_at, e.deleted, e.completed_at, e.schedules,
  (select count(*) from erasure_executions r where r.erasure_id = e.id)
    + (select count(*) from erasure_workflow_runs r where r.erasure_id = e.id) as waiting`;

export async function findErasure(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<ErasureRow | null> {
  const { rows } = await sql<ErasureRow>`
    select ${columns} from erasure_requests e where e.id = ${id} and e.workspace_id = ${workspaceId}`.execute(
    db,
  );
  return rows[0] ?? null;
}

/** Newest first. */
export function listErasures(
  db: Db,
  workspaceId: string,
  page: Page,
): Promise<{ rows: ErasureRow[]; total: number }> {
  const from = sql`erasure_requests e where e.workspace_id = ${workspaceId}`;
  return readPage<ErasureRow>(db, { columns, from, order: sql`e.id desc` }, page);
}

/** An erasure that is not completed, with its position. */
export interface OpenErasure extends NewErasure {
  /** Records from this id on have been scanned. */
  readonly downTo: string;
  /** The same for workflow runs, for lines of the batches from this id on, and for events from this sequence on. */
  readonly workflowRunsDownTo: string;
  readonly linesDownTo: string;
  readonly eventsDownTo: number | null;
}

/** Of an erasure whose records are scanned: what a scan needs. */
export type ScannedErasure = Omit<
  OpenErasure,
  'workflowRunsDownTo' | 'linesDownTo' | 'eventsDownTo'
>;

/** Oldest first. */
export async function listOpenErasures(db: Db): Promise<OpenErasure[]> {
  const { rows } = await sql<OpenErasure>`
    select id, workspace_id, agent_id, variable, label, label_name, value, requested_by, down_to, workflow_runs_down_to,
      lines_down_to, events_down_to
    from erasure_requests
    where completed_at is null order by id`.execute(db);
  return rows;
}

/** Whether an erasure of the workspace is open or was completed within this time. */
export async function hasRecentErasure(
  db: Db,
  workspaceId: string,
  withinMs: number,
): Promise<boolean> {
  const { rows } = await sql`
    select from erasure_requests where workspace_id = ${workspaceId}
      and (completed_at is null or completed_at > clock_timestamp() - ${withinMs} * interval '1 millisecond')
    limit 1`.execute(db);
  return rows.length > 0;
}

export interface ErasureScan {
  /** Executions of this end user, ended or not. */
  readonly found: readonly {
    readonly id: string;
    /** The JSON text of an object or array, which the caller must still compare; null for an exact match. */
    readonly text: string | null;
  }[];
  /** The lowest scanned id; null if nothing was left. */
  readonly downTo: string | null;
}

/** Limits the text that one scan returns. */
const textBytesMax = 4_000_000;
/** Limits the stored variables that one scan reads. */
const scannedBytesMax = 4_000_000;
/** The whitespace of JSON. */
const jsonWhitespace = ' \t\n\r';

/**
 * Scans the next `limit` executions in one snapshot, ended or not. It scans fewer if their variables are long, or the same
 * scan might time out in every round. It also stops when the returned text gets large.
 *
 * SQL compares scalars, and objects without escapes by their tokens. Objects with escapes are returned as candidates, because
 * a character can be escaped in several ways; one character takes at most twelve. If a variable occurs twice, each value
 * counts, because the record contains both.
 */
export async function scanForErasure(
  db: Db,
  erasure: Omit<ScannedErasure, 'label' | 'labelName'>,
  limit: number,
): Promise<ErasureScan> {
  const { agentId, workspaceId, variable, value, downTo } = erasure;
  const tokens = sql`translate(text, ${jsonWhitespace}, '')`;
  const valueTokens = sql`translate(${value}, ${jsonWhitespace}, '')`;
  const batch = nextExecutions({ agentId, workspaceId, downTo }, limit, sql`e.input_variables`);
  const { rows } = await sql<{ downTo: string | null; id: string | null; text: string | null }>`
    with scanned as materialized (
      select id, input_variables from (
        select *, sum(bytes) over (order by id desc) - bytes as bytes_before from (
          select *, coalesce(pg_column_size(input_variables), 0) as bytes from (${batch}) as batch) as sized) as summed
      where bytes_before < ${scannedBytesMax}),
    named as (
      select id, value #>> '{}' as text, json_typeof(value) in ('object', 'array') as nested
      from scanned cross join lateral json_each(input_variables) as variable (name, value)
      where name = ${variable}),
    candidates as materialized (
      select id, case when nested then text end as text from named
      where case
        when not nested then text = ${value}
        when left(text, 1) <> left(${value}, 1) then false
        when strpos(text, '\\') = 0 then ${tokens} = ${valueTokens}
        else length(${tokens}) between length(${valueTokens}) and 12 * length(${valueTokens}) end),
    found as materialized (
      select id, text from (
        select id, text,
          sum(octet_length(text)) over (order by id desc groups between unbounded preceding and 1 preceding) as before
        from candidates) as summed
      where coalesce(before, 0) < ${textBytesMax})
    select lowest.id as down_to, found.id, found.text
    from (values (1)) as always
      left join (
        select id from scanned
        where (select count(*) from found) = (select count(*) from candidates)
          or id >= (select id from found order by id limit 1)
        order by id limit 1) as lowest on true
      left join found on true`.execute(db);
  return {
    found: rows.flatMap(({ id, text }) => (id === null ? [] : { id, text })),
    downTo: rows[0]?.downTo ?? null,
  };
}

/** As `scanForErasure`, by the index of users: the next `limit` executions of a user, ended or not. */
export async function scanForUser(
  db: Db,
  { agentId, workspaceId, value, downTo }: ScannedErasure,
  limit: number,
): Promise<ErasureScan> {
  const ofUser = sql`e.workspace_id = ${workspaceId} and e.end_user = ${value} and e.id < ${downTo}
    and (${agentId}::uuid is null or e.agent_id = ${agentId})`;
  const { rows } = await sql<{ id: string }>`
    select id from (
      (select e.id from executions e where ${ofUser} and ${aboveFloor}
       order by e.id desc limit ${limit})
      union all
      (select e.id from execution_queue e where ${ofUser} order by e.id desc limit ${limit})) as either
    order by id desc limit ${limit}`.execute(db);
  const last = rows.length < limit ? null : (rows.at(-1)?.id ?? null);
  return { found: rows.map(({ id }) => ({ id, text: null })), downTo: last };
}

/** As `scanForErasure`, for a tag or a value of the metadata, for which there is no index. */
export async function scanForLabel(
  db: Db,
  erasure: ScannedErasure,
  limit: number,
): Promise<ErasureScan> {
  const { rows } = await sql<{ id: string; found: boolean }>`
    select e.id, coalesce(${recordHasLabel(erasure)}, false) as found
    from (${nextExecutions(erasure, limit, sql`e.tags, e.metadata`)}) as e
    order by e.id desc`.execute(db);
  return {
    found: rows.filter(({ found }) => found).map(({ id }) => ({ id, text: null })),
    downTo: rows.at(-1)?.id ?? null,
  };
}

/**
 * SQL: the next executions of the workspace, ended or not, by the indexes of its agents, deleted ones included. Each of many
 * agents would offer as many as are wanted. So a few of each give a bound first: the newest of all are not older than the
 * newest of some.
 */
function nextExecutions(
  { agentId, workspaceId, downTo }: Pick<ScannedErasure, 'agentId' | 'workspaceId' | 'downTo'>,
  limit: number,
  columns: Sql,
): Sql {
  const ofAgent = (table: string, condition: Sql, count: Sql) => sql`
    (select e.id from ${sql.table(table)} e
     where e.agent_id = a.id and e.id < ${downTo} and ${condition} order by e.id desc limit ${count})`;
  const newest = (condition: Sql, count: Sql) => sql`
    select one.id from scanned_agents a cross join lateral (
      ${ofAgent('executions', sql`${aboveFloor} and ${condition}`, count)}
      union all ${ofAgent('execution_queue', condition, count)}) as one`;
  const few = sql`(select least(${limit}::bigint, 1 + ${16 * limit}::bigint / greatest(count(*), 1)) from scanned_agents)`;
  const inBound = sql`e.id >= coalesce((select id from bound), ${everything.fromId}::uuid)`;
  return sql`
    with scanned_agents as materialized (
      select id from agents
      where workspace_id = ${workspaceId} and (${agentId}::uuid is null or id = ${agentId})),
    bound as materialized (${newest(sql`true`, few)} order by one.id desc limit 1 offset ${limit - 1}),
    next as materialized (${newest(inBound, sql`${limit}`)} order by one.id desc limit ${limit})
    select e.id, ${columns} from all_executions e
    where e.id = any(array(select id from next)) and e.id >= (select id from next order by id limit 1)
      and e.id < ${downTo}`;
}

/** Up to `limit` found records that can be deleted: the execution has ended, and so has its workflow run. */
export async function deletableExecutions(
  db: Db,
  erasureId: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select r.execution_id as id from erasure_executions r
    where r.erasure_id = ${erasureId} and not exists (select from execution_queue q where q.id = r.execution_id)
      and not exists (
        select from executions e join workflow_runs w on w.id = e.workflow_run_id
        where e.id = r.execution_id and w.completed_at is null offset 0)
    limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/**
 * Stores the position in the transaction of the deletion, and which found executions still exist. Those of workflow runs are
 * deleted with their run.
 */
export async function recordErasureProgress(send: Send, progress: ErasureProgress): Promise<void> {
  await Promise.all([
    send(updateProgress, progress),
    send(addWaiting, progress),
    send(deleteWaiting, progress),
  ]);
}

interface ErasureProgress {
  readonly erasureId: string;
  readonly downTo: string;
  /** The found ones that were to be deleted. */
  readonly ids: readonly string[];
  readonly deleted: number;
}

const erasureId = (progress: ErasureProgress) => progress.erasureId;
const foundIds = sql`${({ ids }: ErasureProgress) => ids}::uuid[]`;

const updateProgress = statement<ErasureProgress>('erasure-update-progress')`
  update erasure_requests set down_to = least(down_to, ${({ downTo }) => downTo}::uuid),
    deleted = deleted + ${({ deleted }) => deleted}::bigint
  where id = ${erasureId}`;

const addWaiting = statement<ErasureProgress>('erasure-add-waiting')`
  insert into erasure_executions (erasure_id, execution_id)
  select ${erasureId}, e.id from all_executions e
  where e.id = any(${foundIds}) and e.workflow_run_id is null on conflict do nothing`;

const deleteWaiting = statement<ErasureProgress>('erasure-delete-waiting')`
  delete from erasure_executions r
  where r.erasure_id = ${erasureId} and r.execution_id = any(${foundIds})
    and not exists (select from all_executions e where e.id = r.execution_id and e.id = any(${foundIds}))`;

/** Stores the position of the scan of events. */
export async function recordScannedEvents(
  trx: Trx,
  erasureId: string,
  downTo: number,
): Promise<void> {
  await sql`update erasure_requests set events_down_to = ${downTo} where id = ${erasureId}`.execute(
    trx,
  );
}

/**
 * Waits for the admissions of the workspace that are about to commit: their executions have lower ids than the erasure and
 * must be scanned. Later ones have higher ids.
 */
export async function awaitAdmissions(db: Db, workspaceId: string): Promise<void> {
  await sql`select from limits where subject = ${workspaceId} for update`.execute(db);
}

/** Completes an erasure that waits for nothing, and deletes its value. Null if it still waits. */
export async function completeErasure(
  trx: Trx,
  erasureId: string,
): Promise<{ readonly deleted: number } | null> {
  const { rows } = await sql<{ deleted: number }>`
    update erasure_requests e set value = null, completed_at = clock_timestamp()
    where id = ${erasureId} and ${waitsForNothing}
    returning deleted`.execute(trx);
  return rows[0] ?? null;
}

/** Whether an erasure is open and waits for nothing that is live. */
export async function isCompletable(db: Db, erasureId: string): Promise<boolean> {
  const { rows } = await sql`
    select from erasure_requests e where id = ${erasureId} and ${waitsForNothing}`.execute(db);
  return rows.length > 0;
}

const waitsForNothing = sql`e.completed_at is null
  and not exists (select from erasure_executions r where r.erasure_id = e.id)
  and not exists (select from erasure_workflow_runs r where r.erasure_id = e.id)`;
