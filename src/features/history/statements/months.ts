import { type Db, inTransaction, type Trx } from '../../../db/database.ts';
import { isLockNotAvailable } from '../../../db/database-error.ts';
import { sql } from '../../../db/sql.ts';

/**
 * Removes whole months of the history. A month that nobody keeps is removed in three steps, so that every reader sees either
 * all of it or nothing, and nobody waits:
 *
 * 1. The floor moves, in its own transaction. Every read that starts after its commit starts at the floor.
 * 2. When no transaction can still read with the previous floor, the partition is dropped, at a moment when nobody uses the
 *    table.
 * 3. The statistics buckets below the floor are set to contain no records.
 */

/**
 * Moves the floor to the first month in which an agent, deleted or not, keeps records, if that frees a whole month. An
 * execution or workflow run that has not ended keeps its month and all later ones. The lock excludes changes of retention.
 */
export async function moveFloor(db: Db): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    await sql`select from maintenance_jobs where name = 'retention' for update`.execute(trx);
    return moveFloorLocked(trx);
  });
}

async function moveFloorLocked(trx: Trx): Promise<boolean> {
  const { rowCount } = await sql`
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
  return rowCount > 0;
}

/** SQL: the months with a partition of records or of their steps, by its name. */
const months = sql.raw(`(
  select c.relname::text as name,
    (to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month') at time zone 'UTC' as until
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent in ('executions'::regclass, 'execution_steps'::regclass)
    and c.relname ~ '^(executions|execution_steps)_[0-9]{4}_[0-9]{2}$')`);

/**
 * SQL: whether no snapshot in use predates the last move of the floor. A snapshot sees the move if its xmin, below which
 * every transaction had ended, is higher than the transaction id of the move.
 *
 * - Every snapshot in use shows up as `backend_xmin`, an exported one as that of its exporter. Sessions of other roles are
 *   hidden unless our role may read all statistics. Such a reader (a report or a dump) is safe once it has touched the
 *   table, because it holds a lock that blocks the drop. Before that, it finds the month missing: less than its snapshot
 *   would contain, but consistent.
 * - A prepared transaction reads nothing anymore, and its locks are visible.
 * - Replication slots keep rows for other servers. A standby resolves the conflict with its own readers. A standby with
 *   feedback shows up like a session.
 * - Vacuum reads no records. Other databases have their own snapshots.
 * - A move with a future transaction id comes from the server that this database was restored from: no reader here saw it.
 */
const settled = sql`not exists (
  select from pg_stat_activity a cross join history_floor f
  where (a.datname = current_database() or a.backend_type = 'walsender')
    and a.backend_type <> 'autovacuum worker' and a.pid <> pg_backend_pid() and a.backend_xmin is not null
    and f.moved_by < pg_snapshot_xmax(pg_current_snapshot())
    and pg_snapshot_xmax(pg_current_snapshot())::text::numeric - age(a.backend_xmin) <= f.moved_by::text::numeric)`;

/** Whether the months below the floor may be removed now. */
export async function isFloorSettled(db: Db): Promise<boolean> {
  const { rows } = await sql<{ settled: boolean }>`select ${settled} as settled`.execute(db);
  return rows[0]?.settled ?? false;
}

/** The partitions of months below the floor, oldest first. */
export async function listDroppableMonths(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select m.name from ${months} as m, history_floor f where m.until <= f.at order by m.until`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}

/**
 * Drops a month below the settled floor. The drop needs an exclusive lock, and later statements queue behind it. So it does
 * not try while a long read is active, and gives up after 50 ms. `detach … concurrently` needs a weaker lock, but PostgreSQL
 * refuses it if there is a default partition. Returns false if it has to be retried.
 */
export async function dropMonth(db: Db, name: string): Promise<boolean> {
  const { rows } = await sql`
    select from pg_locks l join pg_stat_activity a using (pid)
    where l.locktype = 'relation' and l.relation in ('executions'::regclass, 'execution_steps'::regclass, to_regclass(${name})) and l.granted
      and l.database = (select oid from pg_database where datname = current_database())
      and a.xact_start < clock_timestamp() - interval '1 second'
    limit 1`.execute(db);
  if (rows.length > 0) return false;
  try {
    await db.transaction(async (trx) => {
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
 * Deletes up to `limit` records below the settled floor that belong to no partition of a month, with their steps. The statistics do
 * not count them.
 */
export async function deleteBeforeFloor(db: Db, limit: number): Promise<number> {
  const { rowCount } = await sql`
    with deleted as (
      delete from executions_default where id = any (array(
        select id from executions_default
        where id < (select id_floor(at) from history_floor) order by id limit ${limit} for update skip locked))
      returning id),
    steps as (delete from execution_steps s using deleted where s.execution_id = deleted.id)
    select from deleted`.execute(db);
  return rowCount;
}

/** Whether no bucket below the floor counts records any more. */
export async function isFloorCleared(db: Db): Promise<boolean> {
  const { rows } = await sql<{ counted: boolean }>`
    select counted_to >= at as counted from history_floor`.execute(db);
  return rows[0]?.counted ?? true;
}

/**
 * Sets up to `limit` buckets of an agent below the settled floor to contain no records. Deletes minute buckets, like a
 * roll-up. Returns how many.
 */
export async function clearBuckets(db: Db, agentId: string, limit: number): Promise<number> {
  const between = sql`bucket >= (select counted_to from history_floor)
    and bucket < (select at from history_floor)`;
  const { rowCount: minutes } = await sql`
    delete from statistics where ctid = any (array(
      select ctid from statistics
      where agent_id = ${agentId} and level = 'minute' and ${between} limit ${limit}))`.execute(db);
  let emptied = minutes;
  for (const [table, levels] of [
    ['statistics', ['hour', 'day']],
    ['breakdown', ['quarter', 'day']],
  ] as const) {
    const { rowCount } = await sql`
      update ${sql.table(table)} set recorded = 0 where ctid = any (array(
        select ctid from ${sql.table(table)}
        where agent_id = ${agentId} and level = any (${levels}::text[]) and ${between} and recorded <> 0
        limit ${limit}))`.execute(db);
    emptied += rowCount;
  }
  return emptied;
}

/** Records that all buckets below this floor contain no records. Does nothing if the floor has moved again. */
export async function markFloorCounted(db: Db, at: Date): Promise<void> {
  await sql`update history_floor set counted_to = ${at} where at = ${at}`.execute(db);
}

export async function readFloor(db: Db): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`select at from history_floor`.execute(db);
  if (!rows[0]) throw new Error('The table history_floor has no row.');
  return rows[0].at;
}
