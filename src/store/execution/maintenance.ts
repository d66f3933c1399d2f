import { sql } from 'kysely';
import { statementTime, farthestDueTime } from '../connection/clock.ts';
import type { Db } from '../connection/database.ts';

/**
 * Housekeeping: partitions made ahead of time, rows forgotten that have had their day. Every process that works may do
 * it at any time: each statement passes over what another one has locked.
 */

const monthsAhead = 2;

/** It needs a lock for itself for a moment, and gives up where it does not get it soon. */
export async function createPartitions(db: Db): Promise<void> {
  await sql`select make_execution_partitions(${monthsAhead})`.execute(db);
}

/** Forgets up to so many keys, kept for 24 hours and longer where the run has not ended yet; answers how many. */
export async function deleteExpiredIdempotencyKeys(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from idempotency where (caller, agent_id, key) in (
      select caller, agent_id, key from idempotency i
      where created_at < ${statementTime} - interval '24 hours'
        and not exists (select from execution_queue q where q.id = i.execution_id)
      order by created_at limit ${limit} for update skip locked)`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** As long as those of executions. */
export async function deleteExpiredWorkflowIdempotencyKeys(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from workflow_idempotency where (caller, workflow_id, key) in (
      select caller, workflow_id, key from workflow_idempotency i
      where created_at < ${statementTime} - interval '24 hours'
        and not exists (select from workflow_runs r where r.id = i.run_id and r.completed_at is null)
      order by created_at limit ${limit} for update of i skip locked)`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Of refused calls, what was counted of hours that are over. */
export async function deleteOldRefusals(db: Db): Promise<void> {
  await sql`
    delete from refusals where (caller, agent_id, status) in (
      select caller, agent_id, status from refusals
      where hour < floor(extract(epoch from clock_timestamp()) / 3600)::bigint - 1
      for update skip locked)`.execute(db);
}

/** Of lists, what was counted of minutes that are over. */
export async function deleteOldListCounts(db: Db): Promise<void> {
  await sql`
    delete from list_counts where caller in (
      select caller from list_counts
      where minute < floor(extract(epoch from clock_timestamp()) / 60)::bigint - 1
      for update skip locked)`.execute(db);
}

/** Cancellations whose process is gone. */
export async function deleteOldCancellations(db: Db): Promise<void> {
  await sql`
    delete from cancellations where execution_id in (
      select execution_id from cancellations c
      where not exists (select from workers w where w.id = c.worker)
      for update skip locked)`.execute(db);
}

/** Has up to so many runs wait no longer that wait for a time which is years off, maybe; answers how many. */
export async function wakeExecutions(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    update execution_queue set available_at = clock_timestamp() where id in (
      select id from execution_queue where available_at > ${farthestDueTime}
      order by available_at limit ${limit} for update skip locked)`.execute(db);
  return Number(numAffectedRows ?? 0);
}
