import { setTimeout as wait } from 'node:timers/promises';
import { addBudget } from '../harness/budgets.ts';
import type { Db } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { allEnded, checkTables } from './checker.ts';
import type { ProofEnvironment } from './environment.ts';
import { until } from './until.ts';

/** What must hold of budgets while calls run, and once all is quiet. */

/** Each window with what is not folded, in one snapshot; those of limits of workflow runs too. */
const amounts = sql`(
  select b.name, b.run_id, b.limit_usd, w.bucket, w.window_start, w.reserved + coalesce(s.reserved, 0) as reserved,
    w.settled + coalesce(s.settled, 0) as settled, w.unknown_calls + coalesce(s.unknown, 0) as unknown_calls
  from (
    select id, name, null::uuid as run_id, limit_usd from budgets
    union all
    select id, 'run ' || id, id, max_cost_usd from workflow_runs where max_cost_usd is not null) as b
  join budget_windows w on w.budget_id = b.id left join lateral (
    select sum(delta_reserved) as reserved, sum(delta_settled) as settled,
      sum(calls) filter (where unknown) as unknown
    from budget_settlements s where s.budget_id = w.budget_id and s.bucket = w.bucket
      and s.window_start = w.window_start) as s on true) as a`;

interface Amounts {
  readonly name: string;
  readonly bucket: string;
  readonly reserved: string;
  readonly settled: string;
  readonly limitUsd: string;
}

/** Reads snapshots until it is stopped: what is settled and reserved must fit into the limit in each of them. */
export function watchBudgets(db: Db): { stop(): Promise<string[]> } {
  const found = new Map<string, string>();
  let stopped = false;
  let snapshots = 0;
  const watching = (async () => {
    while (!stopped) {
      const { rows } = await sql<Amounts>`
        select name, bucket, reserved, settled, limit_usd from ${amounts}
        where settled + reserved > limit_usd or reserved < 0 or settled < 0`.execute(db);
      for (const row of rows) found.set(`${row.name} ${row.bucket}`, exceeded(row));
      snapshots++;
      await wait(10);
    }
  })();
  watching.catch(() => {});
  return {
    async stop() {
      stopped = true;
      await watching;
      return [...found.values(), ...(snapshots === 0 ? ['no snapshot was read'] : [])];
    },
  };
}

function exceeded({ name, bucket, settled, reserved, limitUsd }: Amounts): string {
  return `the budget ${name} of "${bucket}" had ${settled} settled and ${reserved} reserved of ${limitUsd}`;
}

/** Once no more calls come: all executions must end, and budgets and tables must agree. */
export async function checkEndedCalls(
  { db, deaths }: Pick<ProofEnvironment, 'db' | 'deaths'>,
  watch: ReturnType<typeof watchBudgets>,
  boundUsd: number,
): Promise<string[]> {
  return [
    ...((await allEnded(db)) ? [] : ['not all executions ended']),
    ...(await watch.stop()),
    ...(await checkQuietBudgets(db, boundUsd)),
    ...(await checkTables(db, { accepted: [], allowUnknown: true, fromZero: false })),
    ...deaths(),
  ];
}

/**
 * Once nothing runs and all is folded: nothing is reserved, and a window has settled what its records cost, and the bound of each
 * call whose cost is unknown. Budgets must share one window without a bucket, and calls one bound.
 */
export async function checkQuietBudgets(db: Db, boundUsd: number): Promise<string[]> {
  const isFolded = await until(async () => {
    const { rows } = await sql`select from budget_settlements limit 1`.execute(db);
    return rows.length === 0;
  });
  return [
    ...(isFolded ? [] : ['settlements are not folded']),
    ...(await checkSettled(db, boundUsd)),
  ];
}

/** The same, but for folding: nobody folds what the last calls of a workflow run have left. */
export async function checkSettled(db: Db, boundUsd: number): Promise<string[]> {
  const { rows: reserved } = await sql<Amounts>`
    select name, bucket, reserved, settled, limit_usd from ${amounts} where reserved <> 0`.execute(
    db,
  );
  const { rows: different } = await sql<Amounts & { cost: string; unknownCalls: number }>`
    select a.name, a.bucket, a.settled, a.reserved, a.limit_usd, a.unknown_calls, e.cost from ${amounts}
    cross join lateral (
      select coalesce(sum(cost_usd), 0) as cost from executions
      where reserved_usd is not null and (a.run_id is null or workflow_run_id = a.run_id)) as e
    where a.settled <> e.cost + a.unknown_calls * ${String(boundUsd)}::numeric`.execute(db);
  return [
    ...reserved.map((row) => `once all is quiet, ${row.reserved} are reserved of ${row.name}`),
    ...different.map(
      (row) =>
        `${row.name} has settled ${row.settled}, its records cost ${row.cost}, and ${row.unknownCalls} calls are unknown`,
    ),
  ];
}

/** Raises the limit of the only budget to what it has spent, and more. */
export async function addRoom(environment: ProofEnvironment, roomUSD: number): Promise<void> {
  const { db } = environment;
  const { rows } = await sql`select from budgets`.execute(db);
  if (rows.length === 0) {
    await addBudget(environment, { limitUSD: roomUSD, period: 'total' });
    return;
  }
  await sql`
    update budgets b set limit_usd = ${String(roomUSD)}::numeric + (
      select coalesce(sum(w.reserved + w.settled), 0) from budget_windows w where w.budget_id = b.id)`.execute(
    db,
  );
}
