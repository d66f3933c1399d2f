import { type RawBuilder, sql } from 'kysely';
import { type Db, inTransaction } from '../connection/database.ts';
import { isLockNotAvailable } from '../connection/database-error.ts';
import type { Send, Statement } from '../connection/pipeline.ts';

/**
 * Working processes. One row is the lease of everything that its process works on, so a heartbeat costs the same
 * with one run in flight and with ten thousand.
 */

export async function registerWorker(send: Send, id: string, leaseMs: number): Promise<void> {
  await send(insertWorker, [id, leaseMs]);
}

/**
 * Renews the lease. Answers the runs that were canceled meanwhile, or null where the row is gone: then all that
 * the process worked on has been taken from it.
 */
export async function heartbeat(send: Send, id: string, leaseMs: number): Promise<string[] | null> {
  const [row] = await send<{ canceled: string[] }>(renewLease, [id, leaseMs]);
  return row?.canceled ?? null;
}

const insertWorker: Statement = {
  name: 'worker-insert',
  text: `insert into workers (id, lease_until)
    values ($1, clock_timestamp() + $2 * interval '1 millisecond')`,
};

const renewLease: Statement = {
  name: 'worker-renew-lease',
  text: `with beat as (
      update workers set lease_until = clock_timestamp() + $2 * interval '1 millisecond'
      where id = $1 returning id),
    told as (delete from cancellations where worker = $1 returning execution_id)
    select array(select execution_id::text from told) as canceled from beat`,
};

/**
 * Takes the runs of processes whose lease has run out and charges each run the loss; answers how many runs it took.
 * After a start of the database no lease counts as expired before everyone had time to renew it; whoever sweeps makes
 * sure that it has itself been in touch for as long. Its own row it leaves alone: after a machine has slept, the next
 * heartbeat keeps it.
 */
export async function sweepWorkers(db: Db, own: string, leaseMs: number): Promise<number> {
  await endLongLeases(db, leaseMs);
  const { rows } = await sql<{ id: string }>`
    select id from workers where id <> ${own}::uuid and ${expired(leaseMs)} order by id`.execute(
    db,
  );
  let taken = 0;
  for (const { id } of rows) {
    taken += await freeExecutions(db, id, leaseMs).catch((error: unknown) => {
      // Stopped in the middle of a transaction, that process keeps runs locked until its connection is given up. Nobody
      // else's runs wait for that.
      if (isLockNotAvailable(error)) return 0;
      throw error;
    });
  }
  return taken;
}

/**
 * First the process row is deleted, by a statement that must lock it, so that a claim or a heartbeat under way wins;
 * only then, in a statement with a later snapshot, are its runs set free: else a live process could be robbed in
 * between.
 */
async function freeExecutions(db: Db, worker: string, leaseMs: number): Promise<number> {
  const transaction = db.transaction().setIsolationLevel('read committed');
  return transaction.execute(async (trx) => {
    await sql`set local lock_timeout = 100`.execute(trx);
    const { rows: gone } = await sql`
      delete from workers where id in (
        select id from workers where id = ${worker} and ${expired(leaseMs)} for update skip locked)
      returning id`.execute(trx);
    if (gone.length === 0) return 0;
    const { numAffectedRows } = await sql`
      with lost as materialized (
        select id from execution_queue where worker = ${worker} order by id for update)
      update execution_queue q set worker = null, losses = q.losses + 1, spent_known = false,
        available_at = clock_timestamp()
      from lost where q.id = lost.id`.execute(trx);
    return Number(numAffectedRows ?? 0);
  });
}

/** One later than now was not made just now either: the clock has been put back since. */
function expired(leaseMs: number): RawBuilder<unknown> {
  return sql`lease_until < clock_timestamp() and pg_postmaster_start_time() not between
    clock_timestamp() - ${leaseMs} * interval '1 millisecond' and clock_timestamp() + interval '1 minute'`;
}

/**
 * Leases longer than any that is given were given while the clock was ahead. Who lives renews it, so nobody is robbed:
 * they end as if they had been renewed just now.
 */
async function endLongLeases(db: Db, leaseMs: number): Promise<void> {
  await sql`
    update workers set lease_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    where id in (
      select id from workers where lease_until > clock_timestamp() + interval '2 minutes'
      for no key update skip locked)`.execute(db);
}

/**
 * Takes a process out of the list once it holds nothing any more. First its row is locked, and only then, with a later
 * snapshot, looked for what it holds: runs may just be being born under its lease.
 */
export async function removeWorker(db: Db, id: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    await sql`select from workers where id = ${id} for update`.execute(trx);
    await sql`
      delete from workers w where id = ${id}
        and not exists (select from execution_queue q where q.worker = w.id)`.execute(trx);
  });
}
