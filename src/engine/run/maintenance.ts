import { farthestDueTime } from '../../db/clock.ts';
import type { Db } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/**
 * Maintenance: creates partitions ahead of time and deletes expired rows. Every worker may run it at any time, because each
 * statement skips rows that another process has locked.
 */

const monthsAhead = 2;

/** Needs an exclusive lock for a moment; gives up after a short lock timeout. */
export async function createPartitions(db: Db): Promise<void> {
  await sql`select make_execution_partitions(${monthsAhead})`.execute(db);
}

/** Deletes the counts of refused calls of past hours. */
export async function deleteOldRefusals(db: Db): Promise<void> {
  await sql`
    delete from refusals where (caller, agent_id, status) in (
      select caller, agent_id, status from refusals
      where hour < floor(extract(epoch from clock_timestamp()) / 3600)::bigint - 1
      for update skip locked)`.execute(db);
}

/** Deletes up to `limit` of the counts of refusals that are no longer shown. Returns how many. */
export async function deleteOldRefusalCounts(db: Db, limit: number): Promise<number> {
  const { rowCount } = await sql`
    delete from refusal_counts where (agent_id, api_key_id, code, day) in (
      select agent_id, api_key_id, code, day from refusal_counts
      where day <= (clock_timestamp() at time zone 'UTC')::date - ${refusalDays}::int
      limit ${limit} for update skip locked)`.execute(db);
  return rowCount;
}

/** For how many days refusals are counted, today included. */
export const refusalDays = 30;

/** Deletes the counts of list requests of past minutes. */
export async function deleteOldListCounts(db: Db): Promise<void> {
  await sql`
    delete from list_counts where caller in (
      select caller from list_counts
      where minute < floor(extract(epoch from clock_timestamp()) / 60)::bigint - 1
      for update skip locked)`.execute(db);
}

/** Deletes cancellations for workers that do not exist anymore. */
export async function deleteOldCancellations(db: Db): Promise<void> {
  await sql`
    delete from cancellations where execution_id in (
      select execution_id from cancellations c
      where not exists (select from workers w where w.id = c.worker)
      for update skip locked)`.execute(db);
}

/** Makes up to `limit` executions due that were delayed while the database clock was far ahead. Returns how many. */
export async function wakeExecutions(db: Db, limit: number): Promise<number> {
  const { rowCount } = await sql`
    update execution_queue set available_at = clock_timestamp() where id in (
      select id from execution_queue where available_at > ${farthestDueTime}
      order by available_at limit ${limit} for update skip locked)`.execute(db);
  return rowCount;
}
