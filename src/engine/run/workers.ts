import { type Db, inTransaction } from '../../db/database.ts';
import { isLockNotAvailable } from '../../db/database-error.ts';
import type { Send } from '../../db/pipeline.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { statement } from '../../db/statement.ts';
import { settleReservations } from '../complete/settlements.ts';

/**
 * Workers and their leases.
 *
 * A worker is a process that claims executions. Its row in `workers` is one lease for everything that it has claimed, so a
 * heartbeat costs the same with one execution and with ten thousand.
 *
 * States of a worker: alive (`lease_until` in the future), expired (not renewed in time; still able to renew), swept (row
 * deleted; its executions returned to the queue).
 *
 * Invariants
 * - Claims and admissions lock the worker's row (`for key share`), so a worker without a lease never gets an execution.
 * - The sweep deletes the row before it frees executions. A claim or heartbeat in progress wins, and the sweep skips it.
 * - Fence: an end or release must match `worker` and `attempt` of the queue row, so a swept worker cannot write anymore.
 * - A swept worker never reuses its id; it registers with a new one.
 *
 * Failure cases
 * - A worker is paused or partitioned: its lease expires, another worker sweeps it, and each execution counts one loss.
 * - A worker was paused inside a transaction: its executions stay locked. The sweep skips it after a short lock timeout, until
 *   the database ends the idle transaction.
 * - The database restarts: no lease counts as expired until every worker has had one lease time to renew it.
 * - The database clock was set back: leases that end too far in the future are shortened to one lease time.
 */

export async function registerWorker(send: Send, id: string, leaseMs: number): Promise<void> {
  await send(insertWorker, { id, leaseMs });
}

/** Renews the lease. Returns the executions canceled since, or null if the worker was swept and has lost its executions. */
export async function heartbeat(send: Send, id: string, leaseMs: number): Promise<string[] | null> {
  const [row] = await send(renewLease, { id, leaseMs });
  return row?.canceled ?? null;
}

interface Lease {
  readonly id: string;
  readonly leaseMs: number;
}

const worker = ({ id }: Lease) => id;
const leaseEnd = sql`clock_timestamp() + ${({ leaseMs }: Lease) => leaseMs} * interval '1 millisecond'`;

const insertWorker = statement<Lease>('worker-insert')`
  insert into workers (id, lease_until, opens_urls, keeps_budgets, runs_tools, keeps_run_limits)
  values (${worker}, ${leaseEnd}, true, true, true, true)`;

const renewLease = statement<Lease, { canceled: string[] }>('worker-renew-lease')`
  with renewed as (update workers set lease_until = ${leaseEnd} where id = ${worker} returning id),
  removed as (delete from cancellations where worker = ${worker} returning execution_id)
  select array(select execution_id::text from removed) as canceled from renewed`;

/**
 * Sweeps expired workers: returns their executions to the queue and counts one loss for each. Returns how many. The caller
 * must itself have been connected for one lease time. It skips its own row: after a suspension of the machine, its next
 * heartbeat renews the lease.
 */
export async function sweepWorkers(db: Db, own: string, leaseMs: number): Promise<number> {
  await shortenLongLeases(db, leaseMs);
  const { rows } = await sql<{ id: string }>`
    select id from workers where id <> ${own}::uuid and ${expired(leaseMs)} order by id`.execute(
    db,
  );
  let freed = 0;
  for (const { id } of rows) {
    freed += await freeExecutions(db, id, leaseMs).catch((error: unknown) => {
      // That worker was paused inside a transaction and still locks executions. Other workers' executions must not wait.
      if (isLockNotAvailable(error)) return 0;
      throw error;
    });
  }
  return freed;
}

/**
 * Deletes the worker's row first; this waits for a claim or heartbeat in progress. Only then, with a later snapshot, it frees
 * the executions. In one statement, a live worker could lose an execution that it has just claimed.
 */
async function freeExecutions(db: Db, worker: string, leaseMs: number): Promise<number> {
  return inTransaction(db, async (trx) => {
    await sql`set local lock_timeout = 100`.execute(trx);
    const { rows: swept } = await sql`
      delete from workers where id in (
        select id from workers where id = ${worker} and ${expired(leaseMs)} for update skip locked)
      returning id`.execute(trx);
    if (swept.length === 0) return 0;
    const { rowCount } = await sql`
      with lost as materialized (
        select id, attempt, reservations from execution_queue where worker = ${worker} order by id for update),
      -- Its call may have been sent: the provider may have charged the bound.
      settled as (${settleReservations(sql`lost`, {
        ...{ id: sql`id`, attempt: sql`attempt`, usd: sql`null::numeric` },
        ...{ isKnown: sql`false`, isSent: sql`true` },
      })})
      update execution_queue q set worker = null, reservations = null, losses = q.losses + 1, spent_known = false, wait_code = null,
        -- It may have called the model.
        kept_usd = q.kept_usd + coalesce(q.call_bound_usd, 0),
        attempt_list = coalesce(q.attempt_list, '[]') || jsonb_build_object('model', q.model,
          'errorCode', 'WORKER_LOST', 'inputTokens', 0, 'outputTokens', 0, 'costUSD', 0, 'costKnown', false,
          'latencyMs', null),
        available_at = clock_timestamp()
      from lost where q.id = lost.id`.execute(trx);
    return rowCount;
  });
}

/** SQL: the lease has expired. A server start time in the future means that the clock was set back, so it is ignored. */
function expired(leaseMs: number): Sql {
  return sql`lease_until < clock_timestamp() and pg_postmaster_start_time() not between
    clock_timestamp() - ${leaseMs} * interval '1 millisecond' and clock_timestamp() + interval '1 minute'`;
}

/** Shortens leases that were written while the database clock was ahead. A live worker renews its lease in time. */
async function shortenLongLeases(db: Db, leaseMs: number): Promise<void> {
  await sql`
    update workers set lease_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    where id in (
      select id from workers where lease_until > clock_timestamp() + interval '2 minutes'
      for no key update skip locked)`.execute(db);
}

/**
 * Removes a worker that has no executions. It locks the row first and then checks with a later snapshot, because an admission
 * may just be inserting executions that the worker has claimed.
 */
export async function removeWorker(db: Db, id: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    await sql`select from workers where id = ${id} for update`.execute(trx);
    await sql`
      delete from workers w where id = ${id}
        and not exists (select from execution_queue q where q.worker = w.id)`.execute(trx);
  });
}
