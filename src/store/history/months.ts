import { sql } from 'kysely';
import type { Db, Trx } from '../connection/database.ts';
import { isLockNotAvailable } from '../connection/database-error.ts';

/**
 * Whole months of the history. A month that nobody keeps any more goes in three steps, so that every reader sees either
 * all of it or nothing, and nobody waits:
 *
 * 1. The floor moves, in a transaction of its own. From its commit on, whatever begins to read begins at the floor.
 * 2. Once everyone who may still read by the earlier floor is done, the partition is dropped, at a moment when nobody
 *    is using the table.
 * 3. The buckets before the floor, which nobody reads as records any more, are set to hold none.
 */

/**
 * Moves the floor to the first month of which anyone keeps something, where a whole month is gained by that. Deleted
 * agents keep for as long as they did. A run that has not ended, of an agent or of a workflow, holds its month, and all
 * after it. Nobody changes meanwhile how long anything is kept.
 */
export async function moveFloor(db: Db): Promise<boolean> {
  return db
    .transaction()
    .setIsolationLevel('read committed')
    .execute(async (trx) => {
      await sql`select from maintenance_jobs where name = 'retention' for update`.execute(trx);
      return moveFloorNow(trx);
    });
}

async function moveFloorNow(trx: Trx): Promise<boolean> {
  const { numAffectedRows } = await sql`
    with kept as (
      select bool_or(days is null) as for_ever, max(days) as days
      from agents a join workspaces w on w.id = a.workspace_id
        cross join lateral (select coalesce(a.records_days, w.records_days) as days) as own),
    oldest as (
      select least(
        date_trunc('month', greatest(clock_timestamp() - days * interval '24 hours', 'epoch'), 'UTC'),
        date_trunc('month', id_time((select id from execution_queue order by id limit 1)), 'UTC'),
        date_trunc('month', (select min(executed_at) from workflow_runs where status = 'processing'), 'UTC')) as at
      from kept where not for_ever)
    update history_floor f set at = oldest.at, moved_by = pg_current_xact_id()
    from oldest
    where f.at < oldest.at and exists (select from ${months} as m where m.until <= oldest.at)`.execute(
    trx,
  );
  return (numAffectedRows ?? 0n) > 0n;
}

/** The months that have a partition, by its name. */
const months = sql.raw(`(
  select c.relname::text as name,
    (to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month') at time zone 'UTC' as until
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = 'executions'::regclass and c.relname ~ '^executions_[0-9]{4}_[0-9]{2}$')`);

/**
 * Whether no snapshot can be in use any more that does not see the last move of the floor. A snapshot sees it when the
 * move had ended before, which is certain where its xmin, below which everything had ended, is later than the move.
 *
 * - Every snapshot in use shows as `backend_xmin`, an exported one as that of its exporter. Those of another role are
 *   hidden unless ours may read all statistics. Such a reader, a tool for reports or a dump, is safe once it has touched the
 *   table: until its transaction ends it holds the lock that a drop asks for. If it has not, it finds the month gone:
 *   less than its snapshot would show, never something wrong within what it does show.
 * - A prepared transaction reads nothing any more, and its locks are locks.
 * - Slots of replication keep rows for servers elsewhere. A standby settles the drop with its own readers, and one that
 *   feeds back what it reads shows up here like a session.
 * - Vacuum reads no records. Other databases have snapshots of their own.
 * - A move that is still to come was made in the server that this database was restored from: nobody here was there.
 */
const settled = sql.raw(`not exists (
  select from pg_stat_activity a cross join history_floor f
  where (a.datname = current_database() or a.backend_type = 'walsender')
    and a.backend_type <> 'autovacuum worker' and a.pid <> pg_backend_pid() and a.backend_xmin is not null
    and f.moved_by < pg_snapshot_xmax(pg_current_snapshot())
    and pg_snapshot_xmax(pg_current_snapshot())::text::numeric - age(a.backend_xmin) <= f.moved_by::text::numeric)`);

/** Whether the months before the floor may be taken away now. */
export async function isFloorSettled(db: Db): Promise<boolean> {
  const { rows } = await sql<{ settled: boolean }>`select ${settled} as settled`.execute(db);
  return rows[0]?.settled ?? false;
}

/** The months before the floor that still have a partition, oldest first. */
export async function listDroppableMonths(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select m.name from ${months} as m, history_floor f where m.until <= f.at order by m.until`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}

/**
 * Drops a month that stands before the settled floor. It needs the whole table for itself for a moment, and whoever
 * comes after it waits as long as it does: so it does not ask while a long read goes on, and gives up after 50 ms.
 * `detach … concurrently` would ask for less, but PostgreSQL refuses it where there is a default partition.
 * False where it has to be tried again.
 */
export async function dropMonth(db: Db, name: string): Promise<boolean> {
  const { rows } = await sql`
    select from pg_locks l join pg_stat_activity a using (pid)
    where l.locktype = 'relation' and l.relation in ('executions'::regclass, to_regclass(${name})) and l.granted
      and l.database = (select oid from pg_database where datname = current_database())
      and a.xact_start < clock_timestamp() - interval '1 second'
    limit 1`.execute(db);
  if (rows.length > 0) return false;
  try {
    await db.transaction().execute(async (trx) => {
      await sql`set local lock_timeout = '50ms'`.execute(trx);
      await sql`drop table if exists ${sql.table(name)}`.execute(trx);
    });
    return true;
  } catch (error) {
    if (isLockNotAvailable(error)) return false;
    throw error;
  }
}

/**
 * Deletes up to `limit` rows that stand before the settled floor outside of any month of their own. The statistics hold
 * nothing of them.
 */
export async function deleteBeforeFloor(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from executions_default where id = any (array(
      select id from executions_default
      where id < (select id_floor(at) from history_floor) order by id limit ${limit} for update skip locked))`.execute(
    db,
  );
  return Number(numAffectedRows ?? 0);
}

/** Whether there are buckets before the floor that still count records. */
export async function isFloorCounted(db: Db): Promise<boolean> {
  const { rows } = await sql<{ counted: boolean }>`
    select counted_to >= at as counted from history_floor`.execute(db);
  return rows[0]?.counted ?? true;
}

/**
 * Sets up to `limit` buckets of an agent before the settled floor to hold no records; those of minutes go altogether,
 * as they do where an hour holds few. Answers how many there were.
 */
export async function clearBuckets(db: Db, agentId: string, limit: number): Promise<number> {
  const between = sql`bucket >= (select counted_to from history_floor)
    and bucket < (select at from history_floor)`;
  const { numAffectedRows: minutes } = await sql`
    delete from statistics where ctid = any (array(
      select ctid from statistics
      where agent_id = ${agentId} and level = 'minute' and ${between} limit ${limit}))`.execute(db);
  let emptied = minutes ?? 0n;
  for (const [table, levels] of [
    ['statistics', ['hour', 'day']],
    ['breakdown', ['quarter', 'day']],
  ] as const) {
    const { numAffectedRows } = await sql`
      update ${sql.table(table)} set recorded = 0 where ctid = any (array(
        select ctid from ${sql.table(table)}
        where agent_id = ${agentId} and level = any (${levels}::text[]) and ${between} and recorded <> 0
        limit ${limit}))`.execute(db);
    emptied += numAffectedRows ?? 0n;
  }
  return Number(emptied);
}

/** All buckets before this floor hold no records now. Nothing is noted where the floor has moved on meanwhile. */
export async function markFloorCounted(db: Db, at: Date): Promise<void> {
  await sql`update history_floor set counted_to = ${at} where at = ${at}`.execute(db);
}

export async function readFloor(db: Db): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`select at from history_floor`.execute(db);
  if (!rows[0]) throw new Error('the history has no floor');
  return rows[0].at;
}
