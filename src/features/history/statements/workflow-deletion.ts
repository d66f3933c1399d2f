import { transientOutputMs } from '../../../core/history/retention.ts';
import { statementTime } from '../../../db/clock.ts';
import type { Db } from '../../../db/database.ts';
import { type Sql, sql } from '../../../db/sql.ts';
import { overdueBefore } from './retention-statements.ts';

/** Deletes workflow runs with their steps when they are overdue or erased. */

/** A workflow version with runs, and what is overdue. */
export interface OverdueVersion {
  readonly versionId: string;
  readonly losesRuns: boolean;
  /** Whether bodies are removed before their runs. */
  readonly losesBodies: boolean;
}

/** The next versions with runs, by id. Finds each with one index lookup, because most versions have no runs left. */
export async function listOverdueVersions(
  db: Db,
  after: string,
  limit: number,
): Promise<OverdueVersion[]> {
  const { rows } = await sql<OverdueVersion>`
    with recursive run as (
      (select workflow_version_id as id from workflow_runs
        where workflow_version_id > ${after} order by workflow_version_id limit 1)
      union all
      select (select r.workflow_version_id from workflow_runs r
        where r.workflow_version_id > run.id order by r.workflow_version_id limit 1)
      from run where run.id is not null)
    select v.id as version_id,
      ${isOverdue('records_days', allBodies)} as loses_runs, ${isOverdue('bodies_days', keptBodies)} as loses_bodies
    from (select id from run where id is not null limit ${limit}) as run join workflow_versions v on v.id = run.id
    order by v.id`.execute(db);
  return rows;
}

/** The maximum number of steps that one statement deletes with their runs, unless a single run has more. */
export const deletedStepsMax = 20_000;
/** The maximum number of runs per statement. */
const runsMax = 100;

/** Deletes some ended runs of a version that are overdue for one of its agents. Returns how many; 0 if none is left. */
export function deleteOverdueWorkflowRuns(db: Db, versionId: string): Promise<number> {
  return deleteSome(
    db,
    // Lists all values, so that the index can be used up to the id.
    sql`workflow_version_id = ${versionId} and bodies = any (${allBodies}::text[]) and id < (
      select ${before('records_days')} from workflow_versions v where v.id = ${versionId})`,
  );
}

/** Removes input and output of up to `limit` ended runs that are overdue for one of their agents. Returns how many. */
export async function removeOverdueRunBodies(
  db: Db,
  versionId: string,
  limit: number,
): Promise<number> {
  const { rowCount } = await sql`
    update workflow_runs set bodies = 'removed', input = null, output = null where id in (
      select id from workflow_runs
      where workflow_version_id = ${versionId} and bodies = 'stored' and status <> 'processing'
        and id < (select ${before('bodies_days')} from workflow_versions v where v.id = ${versionId})
      limit ${limit} for update skip locked)`.execute(db);
  return rowCount;
}

/** Removes the expired bodies of up to `limit` runs with an agent that stores none. Returns how many. */
export async function removeTransientRunBodies(db: Db, limit: number): Promise<number> {
  const { rowCount } = await sql`
    update workflow_runs set bodies = 'removed', input = null, output = null where id in (
      select id from workflow_runs
      where bodies = 'transient' and completed_at <= ${statementTime} - ${transientOutputMs} * interval '1 millisecond'
      order by completed_at limit ${limit} for update skip locked)`.execute(db);
  return rowCount;
}

/** Deletes some of these runs that have ended and have no executions left. Returns how many; 0 if none is left. */
export function deleteErasedWorkflowRuns(db: Db, runIds: readonly string[]): Promise<number> {
  return deleteSome(
    db,
    sql`id = any(${runIds}::uuid[]) and not exists (
      select from all_executions e where e.workflow_run_id = workflow_runs.id
        and e.id >= (select id_floor(at) from history_floor))`,
  );
}

/** With idempotency keys. A run may have tens of thousands of steps, so they are counted first, up to the limit. Skips locked runs. */
async function deleteSome(db: Db, which: Sql): Promise<number> {
  const { rows } = await sql<{ deleted: number }>`
    with deleted as (
      delete from workflow_runs where id = any(array(
      select id from (
        select id, sum(steps) over (order by id) - steps as steps_before from (
          select r.id, (
            select count(*) from (
              select from workflow_steps where run_id = r.id limit ${deletedStepsMax}) as s) as steps
          from (
            select id from workflow_runs where ${which} and status <> 'processing'
            limit ${runsMax} for update skip locked) as r) as counted) as summed
      where steps_before < ${deletedStepsMax})) returning id),
    keys as (delete from idempotency i using deleted where i.result = deleted.id)
    select count(*) as deleted from deleted`.execute(db);
  return rows[0]?.deleted ?? 0;
}

type Bodies = readonly ('stored' | 'transient' | 'removed')[];
const allBodies: Bodies = ['stored', 'transient', 'removed'];
const keptBodies: Bodies = ['stored'];

/** SQL: whether version `v` has overdue ended runs, or overdue bodies. One index lookup for each value of `bodies`. */
function isOverdue(column: 'records_days' | 'bodies_days', bodies: Bodies) {
  return sql`exists (
    select from unnest(${bodies}::text[]) as b (bodies) where exists (
      select from workflow_runs r
      where r.workflow_version_id = v.id and r.bodies = b.bodies and r.status <> 'processing'
        and r.id < ${before(column)}))`;
}

/**
 * SQL: the id below which runs of version `v`, or their bodies, are overdue; null if they are kept forever. The agent with the
 * shortest retention decides, because the run contains its data. Deleted agents count.
 */
function before(column: 'records_days' | 'bodies_days') {
  return sql`(
    select max((${overdueBefore(column)})::text collate "C")::uuid
    from agents a join workspaces w on w.id = a.workspace_id where a.id = any (v.agent_ids))`;
}
