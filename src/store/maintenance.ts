import { sql } from 'kysely';
import type { Db } from './db.ts';

/** Housekeeping: partitions made ahead of time, rows forgotten that have had their day. */

/** Held for one round, so that of many processes one does the work. */
const lockKey = 7_216_304;
const monthsAhead = 2;
const batchRows = 1_000;

/** One round; false where another process is at it. Each batch is a transaction of its own, so nobody waits long. */
export async function maintain(db: Db): Promise<boolean> {
  return db.connection().execute(async (connection) => {
    const { rows } = await sql<{ locked: boolean }>`
      select pg_try_advisory_lock(${lockKey}) as locked`.execute(connection);
    if (!rows[0]?.locked) return false;
    try {
      await sql`select make_execution_partitions(${monthsAhead})`.execute(connection);
      while ((await forgetIdempotencyKeys(connection)) === batchRows);
      await sql`
        delete from refusals where hour < floor(extract(epoch from clock_timestamp()) / 3600)::bigint - 1`.execute(
        connection,
      );
      await sql`
        delete from list_counts where minute < floor(extract(epoch from clock_timestamp()) / 60)::bigint - 1`.execute(
        connection,
      );
      await sql`
        delete from cancellations c
        where not exists (select from workers w where w.id = c.worker)`.execute(connection);
      return true;
    } finally {
      await sql`select pg_advisory_unlock(${lockKey})`.execute(connection);
    }
  });
}

/** Kept for 24 hours, and longer where the run has not ended yet. */
async function forgetIdempotencyKeys(db: Db): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from idempotency where (caller, agent_id, key) in (
      select caller, agent_id, key from idempotency i
      where created_at < clock_timestamp() - interval '24 hours'
        and not exists (select from run_queue q where q.id = i.execution_id)
      order by created_at limit ${batchRows} for update skip locked)`.execute(db);
  return Number(numAffectedRows ?? 0);
}
