import { type RawBuilder, sql } from 'kysely';
import { transientOutputMs } from '../../core/history/retention.ts';
import { statementTime } from '../connection/clock.ts';
import type { Db } from '../connection/database.ts';
import type { Send, Statement } from '../connection/pipeline.ts';
import { overdueBefore } from '../history/retention.ts';

/** How runs of workflows go when their time is up, and with the records of their steps. Their steps go with them. */

/** A version of a workflow that has runs, and what of them is overdue. */
export interface OverdueVersion {
  readonly versionId: string;
  readonly losesRuns: boolean;
  /** Whether bodies go that their runs outlive. */
  readonly losesBodies: boolean;
}

/**
 * The next versions that have runs, in the order of their ids: found in the index, a look for each. Most versions have
 * none any more.
 */
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

/** Steps whose rows one statement deletes along with their runs; more where a single run has more. */
export const removedStepsMax = 20_000;
/** Runs among which it looks for so many. */
const runsMax = 100;

/** Deletes some ended runs of a version of which an agent keeps its records no longer; answers how many, 0 once none is left. */
export function removeOverdueWorkflowRuns(db: Db, versionId: string): Promise<number> {
  return removeSome(
    db,
    // All there are: with them the index leads to the id.
    sql`workflow_version_id = ${versionId} and bodies = any (${allBodies}::text[]) and id < (
      select ${before('records_days')} from workflow_versions v where v.id = ${versionId})`,
  );
}

/** Takes input and output of up to `limit` ended runs of which an agent keeps its bodies no longer; answers how many. */
export async function removeOverdueRunBodies(
  db: Db,
  versionId: string,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    update workflow_runs set bodies = 'removed', input = null, output = null where id in (
      select id from workflow_runs
      where workflow_version_id = ${versionId} and bodies = 'stored' and status <> 'processing'
        and id < (select ${before('bodies_days')} from workflow_versions v where v.id = ${versionId})
      limit ${limit} for update skip locked)`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Takes what is left of up to `limit` runs of which an agent stores no bodies, and answers how many there were. */
export async function removeTransientRunBodies(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    update workflow_runs set bodies = 'removed', input = null, output = null where id in (
      select id from workflow_runs
      where bodies = 'transient' and completed_at <= ${statementTime} - ${transientOutputMs} * interval '1 millisecond'
      order by completed_at limit ${limit} for update skip locked)`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Deletes some of the ended runs of which these records are steps; answers how many, 0 once none is left. */
export function removeWorkflowRunsOf(db: Db, executionIds: readonly string[]): Promise<number> {
  return removeSome(
    db,
    sql`id in (select workflow_run_id from executions where id = any(${executionIds}::uuid[]))`,
  );
}

/** Deletes some of the ended runs that an erasure has found; answers how many, 0 once none is left. */
export function removeErasedWorkflowRuns(db: Db, erasureId: string): Promise<number> {
  return removeSome(
    db,
    sql`id in (select run_id from erasure_workflow_runs where erasure_id = ${erasureId})`,
  );
}

/**
 * Deletes runs along with the records of their steps, in the transaction that deletes those: what could not be deleted
 * before them.
 */
export function removeWorkflowRunsOfRecords(
  send: Send,
  runIds: readonly string[],
): Promise<unknown> {
  return send(deleteRuns, [runIds]);
}

const deleteRuns: Statement = {
  name: 'workflow-delete-runs',
  text: `delete from workflow_runs where id = any(array(
    select id from workflow_runs where id = any($1::uuid[]) and status <> 'processing'
    order by id for update skip locked))`,
};

/**
 * A run may have tens of thousands of steps, so those are counted first, none further than up to the bound. What somebody
 * else has locked is passed over.
 */
async function removeSome(db: Db, which: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from workflow_runs where id = any(array(
      select id from (
        select id, sum(steps) over (order by id) - steps as steps_before from (
          select r.id, (
            select count(*) from (
              select from workflow_steps where run_id = r.id limit ${removedStepsMax}) as s) as steps
          from (
            select id from workflow_runs where ${which} and status <> 'processing'
            limit ${runsMax} for update skip locked) as r) as counted) as summed
      where steps_before < ${removedStepsMax}))`.execute(db);
  return Number(numAffectedRows ?? 0);
}

type Bodies = readonly ('stored' | 'transient' | 'removed')[];
const allBodies: Bodies = ['stored', 'transient', 'removed'];
const keptBodies: Bodies = ['stored'];

/** SQL: whether version `v` has ended runs that have had their time, or whose bodies have. A look for each of these. */
function isOverdue(column: 'records_days' | 'bodies_days', bodies: Bodies) {
  return sql`exists (
    select from unnest(${bodies}::text[]) as b (bodies) where exists (
      select from workflow_runs r
      where r.workflow_version_id = v.id and r.bodies = b.bodies and r.status <> 'processing'
        and r.id < ${before(column)}))`;
}

/**
 * SQL: the id before which runs of version `v`, or their bodies, have had their time; null where they are kept. Of all
 * agents that it names, deleted or not, the one whose time is the shortest decides: its data is in the run.
 */
function before(column: 'records_days' | 'bodies_days') {
  return sql`(
    select max((${sql.raw(overdueBefore(column))})::text collate "C")::uuid
    from agents a join workspaces w on w.id = a.workspace_id where a.id = any (v.agent_ids))`;
}
