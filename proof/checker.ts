import { setTimeout as wait } from 'node:timers/promises';
import type { Db } from '../src/db/database.ts';
import { type Sql, sql } from '../src/db/sql.ts';

/** Reads the tables after all executions have ended and describes every inconsistency. */

export interface Expected {
  /** The stored ids of the executions that clients know to be accepted. */
  readonly accepted: readonly string[];
  /** Allows accepted executions that no client knows, because the connection broke first. */
  readonly allowUnknown?: boolean;
  /** Whether monthly counters started at zero, so that they must equal the accepted executions. */
  readonly fromZero?: boolean;
}

export async function checkTables(db: Db, expected: Expected): Promise<string[]> {
  const violations: string[] = [];
  const none = async (what: string, statement: Sql) => {
    const { rows } = await statement.execute(db);
    if (rows.length > 0) violations.push(describe(what, rows));
  };
  await none('live executions in the queue', leftInQueue);
  await none('accepted calls without a record', withoutRecord(expected.accepted));
  if (!expected.allowUnknown) await none('records without a call', withoutCall(expected.accepted));
  await none('inconsistent records', inconsistent);
  await none('statistics that differ from the records', wrongStatistics);
  await none('breakdown rows that differ from the records', wrongBreakdown);
  if (expected.fromZero !== false) await none('workspaces with a wrong monthly count', wrongMonths);
  await none('idempotency keys without an execution', brokenIdempotency);
  violations.push(...(await checkDeadlocks(db)));
  return violations;
}

/** Locks have one global order, so deadlocks are violations. PostgreSQL updates the counter within a second. */
export async function checkDeadlocks(db: Db): Promise<string[]> {
  await wait(1_100);
  const { rows } = await sql<{ deadlocks: number }>`
    select deadlocks from pg_stat_database where datname = current_database()`.execute(db);
  const deadlocks = rows[0]?.deadlocks ?? 0;
  return deadlocks === 0 ? [] : [`${deadlocks} deadlocks`];
}

/** Only what would never end exceeds it, also on a slow machine and under a paused process. */
export const endedWithinMs = 300_000;

/**
 * Waits until all executions have ended. False after the timeout, or if an execution belongs to no process and would
 * never end.
 */
export async function allEnded(db: Db, timeoutMs = endedWithinMs): Promise<boolean> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    const { rows } = await sql`select from execution_queue limit 1`.execute(db);
    if (rows.length === 0) return true;
    const { rows: orphans } = await ownerless.execute(db);
    if (orphans.length > 0 || performance.now() > until) return false;
    await wait(20);
  }
}

/** Checks that each end is complete or has not happened, at any moment: each statement reads one snapshot. */
export async function checkCompletions(db: Db): Promise<string[]> {
  const violations: string[] = [];
  for (const [what, statement] of [
    ['executions both live and ended', twice],
    ['steps whose progress differs from their execution', wrongProgress],
    ['statistics that differ from the records', wrongStatistics],
    ['breakdown rows that differ from the records', wrongBreakdown],
    ['tags that differ from the records', wrongTags],
  ] as const) {
    const { rows } = await statement.execute(db);
    if (rows.length > 0) violations.push(describe(what, rows));
  }
  return violations;
}

/** Checks invariants that must hold at any moment. */
async function checkInvariants(db: Db): Promise<string[]> {
  const violations: string[] = [];
  for (const [what, statement] of [
    ['executions owned by an unknown process', ownerless],
    ['agents with more executions in progress than slots', overdrawn],
    ['executions still processing 30 s after their deadline', overdue],
    ['executions both live and ended', twice],
    ['steps whose progress differs from their execution', wrongProgress],
  ] as const) {
    const { rows } = await statement.execute(db);
    if (rows.length > 0) violations.push(describe(what, rows));
  }
  return violations;
}

/** Checks every `everyMs` until it is stopped, then returns each kind of violation once. */
export function watchInvariants(db: Db, everyMs: number): { stop(): Promise<string[]> } {
  const found = new Map<string, string>();
  let stopped = false;
  async function watch(): Promise<void> {
    while (!stopped) {
      for (const one of await checkInvariants(db)) found.set(one.split(':')[0] ?? '', one);
      await wait(everyMs);
    }
  }
  const watching = watch();
  // `stop` reports the error. If the claim fails first, dropping its database causes an irrelevant error.
  watching.catch(() => {});
  return {
    async stop() {
      stopped = true;
      await watching;
      return [...found.values()];
    },
  };
}

// An expired lease still belongs to its process row: both are removed in one transaction.
const ownerless = sql`
  select q.id, q.worker, q.attempt from execution_queue q
  where q.worker is not null and not exists (select from workers w where w.id = q.worker)
  order by q.id`;

const overdrawn = sql`
  select q.agent_id, count(*) as held, a.config ->> 'maxConcurrency' as cap
  from execution_queue q join agents a on a.id = q.agent_id
  where q.has_slot
  group by q.agent_id, a.config ->> 'maxConcurrency'
  having count(*) > (a.config ->> 'maxConcurrency')::int`;

const overdue = sql`
  select q.id, q.worker, q.started_at from execution_queue q
  where q.started_at + (q.settings ->> 'timeoutMs')::int * interval '1 millisecond' + interval '30 seconds'
    < clock_timestamp()
  order by q.id`;

const twice = sql`
  select q.id, q.worker, e.status from execution_queue q join executions e on e.id = q.id order by q.id`;

/** A step is in progress exactly as long as its execution is live; one that has to be stopped may end a moment later. */
const wrongProgress = sql`
  select s.run_id, s.step, s.item, s.status, e.status as execution from workflow_steps s
  left join all_executions e on e.id = s.execution_id
  where s.execution_id is not null
    and (s.status = 'processing' and e.status is distinct from 'processing'
      or s.status in ('success', 'failed') and e.status = 'processing')
  order by s.run_id, s.step, s.item`;

const leftInQueue = sql`
  select id, worker, attempt, failures, losses, has_slot, available_at from execution_queue order by id`;

function withoutRecord(accepted: readonly string[]): Sql {
  return sql`
    select known.id from unnest(${accepted}::uuid[]) as known (id)
    where not exists (select from all_executions e where e.id = known.id)`;
}

function withoutCall(accepted: readonly string[]): Sql {
  return sql`
    select e.id from all_executions e
    where e.status not in ('rate_limited', 'unauthorized')
      and not exists (select from unnest(${accepted}::uuid[]) as known (id) where known.id = e.id)`;
}

/** Ended records must satisfy more than the table's CHECK constraints. */
const inconsistent = sql`
  select id, status, error_code, attempts, output, user_prompt from executions
  where (status = 'success') <> (output is not null)
    or (status = 'success' and (attempts < 1 or started_at is null or user_prompt is null))
    or completed_at < started_at
    or started_at < executed_at - interval '1 millisecond'`;

/** Level by level and bucket by bucket, in both directions. Refusals beyond the cap are counted without a record. */
const wrongStatistics = sql`
  with levels (level) as (values ('minute'), ('hour'), ('day')),
  summed as (
    select e.agent_id, l.level, date_trunc(l.level, e.executed_at, 'UTC') as bucket, e.status, e.source,
      count(*) as records, sum(e.input_tokens) as input_tokens, sum(e.output_tokens) as output_tokens,
      sum(e.cost_usd) as cost_usd, count(*) filter (where not e.cost_known) as cost_unknown,
      count(e.started_at) as started
    from executions e cross join levels l
    group by 1, 2, 3, 4, 5)
  select agent_id, level, bucket, status, source, s.occurred, s.recorded, r.records, s.input_tokens, s.output_tokens,
    s.cost_usd, s.cost_unknown, s.latency, r.started
  from statistics s full join summed r using (agent_id, level, bucket, status, source)
  where s.recorded is distinct from r.records
    or s.occurred < r.records
    or (s.occurred > r.records and status not in ('rate_limited', 'unauthorized'))
    or s.input_tokens is distinct from r.input_tokens
    or s.output_tokens is distinct from r.output_tokens
    or s.cost_usd is distinct from r.cost_usd
    or s.cost_unknown is distinct from r.cost_unknown
    or (select coalesce(sum(n), 0) from unnest(s.latency) as n) is distinct from r.started
  order by level, bucket`;

/** The same for the breakdown. Keys and error codes may be null, which never joins. */
const wrongBreakdown = sql`
  with levels (level, step) as (values ('quarter', interval '15 minutes'), ('day', interval '1 day')),
  summed as (
    select e.agent_id, l.level, date_bin(l.step, e.executed_at, 'epoch') as bucket, e.status, e.source,
      e.prompt_version_id, e.model, coalesce(e.api_key_id::text, '') as key, coalesce(e.error_code, '') as error,
      count(*) as records, sum(e.input_tokens) as input_tokens, sum(e.output_tokens) as output_tokens,
      sum(e.cost_usd) as cost_usd, count(*) filter (where not e.cost_known) as cost_unknown,
      count(e.started_at) as started
    from executions e cross join levels l
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9),
  stored as (
    select *, coalesce(api_key_id::text, '') as key, coalesce(error_code, '') as error from breakdown)
  select agent_id, level, bucket, status, source, model, key, error, b.occurred, b.recorded, r.records
  from stored b full join summed r
    using (agent_id, level, bucket, status, source, prompt_version_id, model, key, error)
  where coalesce(b.recorded, 0) <> coalesce(r.records, 0)
    or b.occurred < r.records
    or (b.occurred > r.records and status not in ('rate_limited', 'unauthorized'))
    or coalesce(b.input_tokens, 0) <> coalesce(r.input_tokens, 0)
    or coalesce(b.output_tokens, 0) <> coalesce(r.output_tokens, 0)
    or coalesce(b.cost_usd, 0) <> coalesce(r.cost_usd, 0)
    or coalesce(b.cost_unknown, 0) <> coalesce(r.cost_unknown, 0)
    or (select coalesce(sum(n), 0) from unnest(b.latency) as n) <> coalesce(r.started, 0)
  order by level, bucket`;

const wrongTags = sql`
  with tagged as (
    select agent_id, tag, count(*) as records from executions cross join unnest(tags) as tag group by 1, 2),
  stored as (
    select agent_id, value as tag, sum(recorded) as recorded from label_buckets
    where kind = 'tag' and level = 'day' group by 1, 2)
  select agent_id, tag, recorded, records from stored full join tagged using (agent_id, tag)
  where recorded is distinct from records order by tag`;

/** The AI Actions of a workspace in a month are the executions accepted in it, however they ended. */
const wrongMonths = sql`
  select w.id, l.month, l.month_used, count(e.id) as accepted
  from workspaces w
  join limits l on l.subject = w.id
  left join all_executions e on e.workspace_id = w.id and e.status not in ('rate_limited', 'unauthorized')
    and (extract(year from e.executed_at at time zone 'UTC') - 1970) * 12
      + extract(month from e.executed_at at time zone 'UTC') - 1 = l.month
  group by w.id, l.month, l.month_used
  having l.month_used <> count(e.id)`;

const brokenIdempotency = sql`
  select i.key, i.result from idempotency i
  where not exists (select from all_executions e where e.id = i.result and e.agent_id = i.target)
    and not exists (select from workflow_runs r where r.id = i.result and r.workflow_id = i.target)`;

function describe(what: string, rows: readonly unknown[]): string {
  return `${what}: ${rows.length}, first ${JSON.stringify(rows[0])}`;
}
