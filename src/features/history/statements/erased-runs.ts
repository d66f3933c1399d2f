import type { Db } from '../../../db/database.ts';
import { aboveFloor, idBounds } from '../../../db/id-bounds.ts';
import { type Sql, sql } from '../../../db/sql.ts';
import { keptLabels, labelsHaveLabel } from '../../../engine/complete/erased-labels.ts';
import type { NewErasure, OpenErasure } from './erasures.ts';

/** The workflow runs that an erased value reached: through their input, or through the variables of a step. */

export interface WorkflowRunScan {
  /** Workflow runs of this end user, ended or not. */
  readonly found: readonly {
    readonly id: string;
    /** The JSON text of an object or array, which the caller must still compare; null for an exact match. */
    readonly text: string | null;
  }[];
  /** The lowest scanned id; null if nothing was left. */
  readonly downTo: string | null;
}

/** Limits the stored inputs that one scan reads. */
const inputBytesMax = 8_000_000;

/** What a scan of workflow runs needs. */
export type ScannedRuns = NewErasure & Pick<OpenErasure, 'workflowRunsDownTo'>;

/** Scans the next `limit` workflow runs of the workspace, ended or not; fewer if their inputs are long. */
export async function scanWorkflowRuns(
  db: Db,
  erasure: ScannedRuns,
  limit: number,
): Promise<WorkflowRunScan> {
  const { workspaceId, variable, value, workflowRunsDownTo } = erasure;
  const { rows } = await sql<{ id: string; found: boolean; text: string | null }>`
    select id, case when ${variable}::text is null then coalesce(${labelsHaveLabel(sql`labels`, erasure)}, false)
        else coalesce(named.nested or named.text = ${value}, false) end as found,
      case when named.nested then named.text end as text
    from (
      select id, input, labels, sum(bytes) over (order by id desc) - bytes as bytes_before from (
        select id, input, labels, coalesce(pg_column_size(input), 0) as bytes from workflow_runs
        where workspace_id = ${workspaceId} and id < ${workflowRunsDownTo}
        order by id desc limit ${limit}) as next) as scanned
    left join lateral (
      select value #>> '{}' as text, json_typeof(value) in ('object', 'array') as nested
      from json_each(input) as variable (name, value) where name = ${variable}) as named on true
    where bytes_before < ${inputBytesMax}
    order by id desc`.execute(db);
  return {
    found: rows.filter((row) => row.found).map(({ id, text }) => ({ id, text })),
    downTo: rows.at(-1)?.id ?? null,
  };
}

/** SQL: for a recursive `with`: these runs, those that run items of them again with what they gave, and so on. */
function reachedFrom(runIds: Sql): Sql {
  return sql`reached (id) as (
      select unnest(${runIds})
      union
      select w.run_id from reached join workflow_reruns w on w.rerun_of = reached.id)`;
}

/** These runs, and those that run items of them again. */
export async function listReachedRuns(db: Db, runIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with recursive ${reachedFrom(sql`${runIds}::uuid[]`)} select id from reached`.execute(db);
  return rows.map(({ id }) => id);
}

/** Stores the position and the found workflow runs, which the erasure has to delete. Those that are live lose their labels. */
export async function recordScannedRuns(
  db: Db,
  erasure: NewErasure,
  { ids, downTo }: { readonly ids: readonly string[]; readonly downTo: string },
): Promise<void> {
  await sql`
    with recursive ${reachedFrom(sql`${ids}::uuid[]`)},
    recorded as (
      insert into erasure_workflow_runs (erasure_id, run_id)
      select ${erasure.id}::uuid, id from reached on conflict do nothing),
    hidden as (${hideLive(erasure, sql`array(select id from reached)`)})
    update erasure_requests set workflow_runs_down_to = least(workflow_runs_down_to, ${downTo}::uuid)
    where id = ${erasure.id}`.execute(db);
}

/** SQL: removes the labels of those of these runs that are live. */
function hideLive(erasure: NewErasure, runIds: Sql) {
  return sql`update workflow_runs set labels = ${keptLabels(erasure)}
    where labels is not null and id = any(array(
      select id from workflow_runs where id = any(${runIds}) and status = 'processing' order by id for update))`;
}

/** Adds the workflow runs that these executions are steps of. Those that are live lose their labels. */
export async function recordRunsOfRecords(
  db: Db,
  erasure: NewErasure,
  executionIds: readonly string[],
): Promise<void> {
  const [lowest, highest] = idBounds(executionIds);
  const runIds = sql`array(
        select e.workflow_run_id from all_executions e
        where e.id = any(${executionIds}::uuid[]) and e.id between ${lowest}::uuid and ${highest}::uuid
          and e.workflow_run_id is not null)`;
  await sql`
    with recursive ${reachedFrom(runIds)},
    recorded as (
      insert into erasure_workflow_runs (erasure_id, run_id)
      select ${erasure.id}::uuid, id from reached on conflict do nothing returning run_id)
    ${hideLive(erasure, sql`array(select run_id from recorded)`)}`.execute(db);
}

/** The workflow runs that these executions are steps of. */
export async function listRunsOfRecords(
  db: Db,
  executionIds: readonly string[],
): Promise<string[]> {
  const [lowest, highest] = idBounds(executionIds);
  const { rows } = await sql<{ id: string }>`
    select distinct e.workflow_run_id as id from all_executions e
    where e.id = any(${executionIds}::uuid[]) and e.id between ${lowest}::uuid and ${highest}::uuid
      and e.workflow_run_id is not null`.execute(db);
  return rows.map(({ id }) => id);
}

/** The next listed runs by id that have ended or are gone. */
export async function listErasableRuns(
  db: Db,
  erasureId: string,
  after: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select l.run_id as id from erasure_workflow_runs l
    where l.erasure_id = ${erasureId} and l.run_id > ${after}
      and not exists (select from workflow_runs r where r.id = l.run_id and r.status = 'processing')
    order by l.run_id limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Ended executions of these runs. */
export async function listExecutionsOfRuns(
  db: Db,
  runIds: readonly string[],
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select e.id from executions e
    where e.workflow_run_id = any(${runIds}::uuid[]) and ${aboveFloor}
    limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/**
 * Removes runs from the list that are gone with all their executions. What runs their items again and has started meanwhile
 * takes their place: such a start locks the run, so that none follows once the run is gone.
 */
export async function forgetErasedRuns(
  db: Db,
  erasure: NewErasure,
  runIds: readonly string[],
): Promise<void> {
  await sql`
    with recursive ${reachedFrom(sql`${runIds}::uuid[]`)},
    recorded as (
      insert into erasure_workflow_runs (erasure_id, run_id)
      select ${erasure.id}::uuid, r.id from reached join workflow_runs r on r.id = reached.id
      on conflict do nothing returning run_id),
    hidden as (${hideLive(erasure, sql`array(select run_id from recorded)`)})
    delete from erasure_workflow_runs l
    where l.erasure_id = ${erasure.id} and l.run_id = any(${runIds}::uuid[])
      and not exists (select from workflow_runs r where r.id = l.run_id)
      and not exists (select from all_executions e where e.workflow_run_id = l.run_id and ${aboveFloor})`.execute(
    db,
  );
}
