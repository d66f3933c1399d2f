import { sql } from 'kysely';
import type { Db, Trx } from '../connection/database.ts';
import type { Send, Statement } from '../connection/pipeline.ts';
import { type Page, readPage } from '../page.ts';

/** Erasures: the records of one end user on their way out of the history. */

export interface ErasureRow {
  readonly id: string;
  readonly agentId: string | null;
  readonly variable: string;
  readonly requestedBy: string | null;
  readonly requestedAt: Date;
  readonly deleted: number;
  /** Runs that it waits for. */
  readonly waiting: number;
  readonly completedAt: Date | null;
}

export interface NewErasure {
  readonly id: string;
  readonly workspaceId: string;
  readonly agentId: string | null;
  readonly variable: string;
  readonly value: string;
  readonly requestedBy: string | null;
}

/** It will look at every record and run that is there by now, the youngest first: all of them have lower ids. */
export async function insertErasure(trx: Trx, erasure: NewErasure): Promise<void> {
  await sql`
    insert into erasures (id, workspace_id, agent_id, variable, value, requested_by, down_to, workflow_runs_down_to)
    select ${erasure.id}, ${erasure.workspaceId}, ${erasure.agentId}, ${erasure.variable}, ${erasure.value},
      ${erasure.requestedBy}, top, top
    from id_floor(clock_timestamp() + interval '1 millisecond') as top`.execute(trx);
}

/** Under the lock of the workspace's row, so that two at once do not each find room for the last one. */
export async function countOpenErasures(trx: Trx, workspaceId: string): Promise<number> {
  await sql`select from workspaces where id = ${workspaceId} for no key update`.execute(trx);
  const { rows } = await sql<{ open: number }>`
    select count(*) as open from erasures
    where workspace_id = ${workspaceId} and completed_at is null`.execute(trx);
  return rows[0]?.open ?? 0;
}

const columns =
  sql.raw(`e.id, e.agent_id, e.variable, e.requested_by, e.requested_at, e.deleted, e.completed_at,
  (select count(*) from erasure_executions r where r.erasure_id = e.id)
    + (select count(*) from erasure_workflow_runs r where r.erasure_id = e.id) as waiting`);

export async function findErasure(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<ErasureRow | null> {
  const { rows } = await sql<ErasureRow>`
    select ${columns} from erasures e where e.id = ${id} and e.workspace_id = ${workspaceId}`.execute(
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
  const from = sql`erasures e where e.workspace_id = ${workspaceId}`;
  return readPage<ErasureRow>(db, { columns, from, order: sql`e.id desc` }, page);
}

/** One that is not done, and how far it has come. */
export interface OpenErasure extends NewErasure {
  /** Records from here on have been looked at. */
  readonly downTo: string;
  /** The same of the runs of workflows. */
  readonly workflowRunsDownTo: string;
}

/** Oldest first. */
export async function listOpenErasures(db: Db): Promise<OpenErasure[]> {
  const { rows } = await sql<OpenErasure>`
    select id, workspace_id, agent_id, variable, value, requested_by, down_to, workflow_runs_down_to
    from erasures
    where completed_at is null order by id`.execute(db);
  return rows;
}

export interface Look {
  /** Records and runs of this end user; whether they have ended is for the deletion to find out. */
  readonly found: readonly {
    readonly id: string;
    /** Of an object or array its JSON text, which may still differ from the value; null where it is the value. */
    readonly text: string | null;
  }[];
  /** What was looked at goes down to here; null where there was nothing left. */
  readonly downTo: string | null;
}

/** Of the texts that one look brings here. */
const textBytesMax = 4_000_000;
/** Of the variables, as they are stored, that one look reads. */
const lookedBytesMax = 4_000_000;
/** What may stand between the tokens of JSON. */
const blanks = ' \t\n\r';

/**
 * Looks at the next `limit` records and unfinished runs, in one snapshot: a run that ends meanwhile is either. Fewer where
 * their variables are long, or the same look might be given up in every round; and where more text than is good for the
 * memory would have to be compared here: that of objects and arrays with escapes in it, since one may be written in many
 * ways. An escape stands for one letter and has at most twelve. Of a variable that was sent twice each value counts, though
 * prompts have the last: all of them are in the record.
 */
export async function scanForErasure(
  db: Db,
  erasure: Omit<OpenErasure, 'workflowRunsDownTo'>,
  limit: number,
): Promise<Look> {
  const { agentId, workspaceId, variable, value, downTo } = erasure;
  const tokens = sql`translate(text, ${blanks}, '')`;
  const valueTokens = sql`translate(${value}, ${blanks}, '')`;
  const above = sql`e.id >= (select id_floor(at) from history_floor)`;
  const next =
    agentId === null
      ? sql`
        select e.id, e.workspace_id, e.input_variables from executions e
        where e.id < ${downTo} and ${above} order by e.id desc limit ${limit}`
      : sql`
        select * from (
          (select e.id, e.workspace_id, e.input_variables from executions e
           where e.agent_id = ${agentId} and e.status <> 'processing' and e.id < ${downTo} and ${above}
           order by e.id desc limit ${limit})
          union all
          (select e.id, e.workspace_id, e.input_variables
           from (select id from execution_queue where agent_id = ${agentId} and id < ${downTo} order by id desc limit ${limit}) q
           join executions e on e.id = q.id)) as either
        order by id desc limit ${limit}`;
  const { rows } = await sql<{ downTo: string | null; id: string | null; text: string | null }>`
    with looked as materialized (
      select id, workspace_id, input_variables from (
        select *, sum(bytes) over (order by id desc) - bytes as bytes_before from (
          select *, case when workspace_id = ${workspaceId} then coalesce(pg_column_size(input_variables), 0) else 0 end as bytes
          from (${next}) as next) as sized) as summed
      where bytes_before < ${lookedBytesMax}),
    named as (
      select id, value #>> '{}' as text, json_typeof(value) in ('object', 'array') as nested
      from looked cross join lateral json_each(input_variables) as variable (name, value)
      where workspace_id = ${workspaceId} and name = ${variable}),
    alike as materialized (
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
        from alike) as summed
      where coalesce(before, 0) < ${textBytesMax})
    select reached.id as down_to, found.id, found.text
    from (values (1)) as always
      left join (
        select id from looked
        where (select count(*) from found) = (select count(*) from alike)
          or id >= (select id from found order by id limit 1)
        order by id limit 1) as reached on true
      left join found on true`.execute(db);
  return {
    found: rows.flatMap(({ id, text }) => (id === null ? [] : { id, text })),
    downTo: rows[0]?.downTo ?? null,
  };
}

/** Records that it waits for and that can go, up to `limit`: their run has ended, and that of the workflow too. */
export async function deletableExecutions(db: Db, erasureId: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select r.execution_id as id from erasure_executions r
    where r.erasure_id = ${erasureId} and not exists (select from execution_queue q where q.id = r.execution_id)
      and not exists (
        select from executions e join workflow_runs w on w.id = e.workflow_run_id
        where e.id = r.execution_id and w.completed_at is null offset 0)
    limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Notes, with the deletion, how far it has come, and what of the end user is still there: it waits for that. */
export async function recordErasureProgress(
  send: Send,
  erasureId: string,
  { downTo, ids, deleted }: { downTo: string; ids: readonly string[]; deleted: number },
): Promise<void> {
  await Promise.all([
    send(updateProgress, [erasureId, downTo, deleted]),
    send(keepWaiting, [erasureId, ids]),
    send(stopWaiting, [erasureId, ids]),
  ]);
}

const updateProgress: Statement = {
  name: 'erasure-update-progress',
  text: `update erasures set down_to = least(down_to, $2::uuid), deleted = deleted + $3::bigint
    where id = $1`,
};

const keepWaiting: Statement = {
  name: 'erasure-keep-waiting',
  text: `insert into erasure_executions (erasure_id, execution_id)
    select $1, e.id from executions e where e.id = any($2::uuid[]) on conflict do nothing`,
};

const stopWaiting: Statement = {
  name: 'erasure-stop-waiting',
  text: `delete from erasure_executions r
    where r.erasure_id = $1 and r.execution_id = any($2::uuid[])
      and not exists (select from executions e where e.id = r.execution_id and e.id = any($2::uuid[]))`,
};

/** Ends it where it waits for nothing more, and forgets whose records they were. */
export async function completeErasure(
  trx: Trx,
  erasureId: string,
): Promise<{ readonly deleted: number } | null> {
  const { rows } = await sql<{ deleted: number }>`
    update erasures e set value = null, completed_at = clock_timestamp()
    where id = ${erasureId} and completed_at is null
      and not exists (select from erasure_executions r where r.erasure_id = e.id)
      and not exists (select from erasure_workflow_runs r where r.erasure_id = e.id)
    returning deleted`.execute(trx);
  return rows[0] ?? null;
}
