import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Db } from '../../src/store/connection/database.ts';
import { allEnded, checkTables, watchInvariants } from '../checker.ts';
import type { Claim, Found } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { checkHistories } from '../histories.ts';
import { checkJournal, memberName, startJournal } from '../journal.ts';
import { startLoad } from '../load.ts';
import { createProcessPool, type Member, type ProcessPool } from '../process-pool.ts';
import { until } from '../until.ts';

/**
 * A round is the SIGSTOP of one worker, in the middle of its work and with one run's end on the way to the database,
 * and its SIGCONT once another process has begun that run anew. Three are stopped at once where there are so many.
 */

const stoppedAtOnce = 3;
const caughtModel = 'numbered-800';
/** Long enough for an end that failed to be tried again, short beside a lease. */
const unheardMs = 200;
/** Nothing takes that long, however slow the machine is; beyond it is a violation, not a wait without an end. */
const patienceMs = 120_000;

export const workerPaused: Claim = {
  name: 'worker-paused',
  description: 'A worker that is paused beyond its lease and resumed overwrites nothing',
  rounds: { test: 1, short: 20, full: 200 },
  roundsPerEnvironment: 20,
  faults: [
    {
      name: 'missing-fence',
      description: 'the end of an execution does not check its owner',
      file: 'flow/execution/finish.ts',
      find: '(row.worker === end.fence.worker && row.attempt === end.fence.attempt)',
      replace: 'true',
      // On a busy machine a resumed worker may learn of its loss before it tries.
      rounds: 6,
    },
  ],
  prove,
};

async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  const { db, random, leaseMs } = environment;
  await startJournal(db);
  const pool = createProcessPool(environment);
  const [api, ...workers] = await Promise.all([
    pool.start('api'),
    ...Array.from({ length: Math.min(stoppedAtOnce, rounds) + 1 }, () => pool.start('worker')),
  ]);
  const { key } = await environment.key();
  const agents = await Promise.all([
    environment.agent({ model: `ollama/${caughtModel}` }),
    environment.agent({ model: 'ollama/numbered-100', config: { maxConcurrency: 8 } }),
  ]);
  const urls = () => [api.process?.url ?? ''];
  const load = startLoad({ urls, key, agents, clients: 4, pauseMs: 80 });
  const watch = watchInvariants(db, 200);
  const seen = new Map<string, string>();
  const violations: string[] = [];
  for (let made = 0, times = 0; made < rounds && violations.length === 0; times++) {
    const zombies = pick(workers, Math.min(stoppedAtOnce, rounds - made), random);
    const ends = await Promise.all(
      zombies.map((zombie, place) => stopAtAnEnd(db, pool, zombie, (made + place) % 4 === 3)),
    );
    const caught = ends.filter((one) => one !== null);
    if (caught.length < zombies.length)
      violations.push('no statement that ends an execution could be intercepted');
    for (const run of caught) {
      if (!(await until(() => begunAnew(pool, run)))) {
        violations.push(
          `${run.prompt} was not taken from its process: ${await told(db, pool, run)}`,
        );
      }
    }
    // Some come back while their run is still worked on elsewhere, some only when it has ended.
    if (random() < 0.5) await wait(1_500 * random());
    for (const [id, row] of await endedRows(db)) if (!seen.has(id)) seen.set(id, row);
    // Every other time none hears at once of the lease that it has lost: by then it has tried to write its end anew.
    await resume(db, pool, zombies, times % 2 === 0);
    for (const { zombie, number } of caught) {
      const back = () => (pool.latest(zombie, caughtModel)?.number ?? 0) > number;
      if (!(await until(back))) violations.push(`worker ${zombie.number} did not come back`);
    }
    made += zombies.length;
  }
  await load.stop();
  if (!(await allEnded(db, patienceMs + leaseMs))) violations.push('not all executions ended');
  const after = await endedRows(db);
  for (const [id, row] of seen) {
    if (after.get(id) !== row) violations.push(`the record of ${id} was written over`);
  }
  const histories = await checkHistories(db, pool.calls());
  return {
    counts: { stops: rounds, 'records compared': seen.size, ...histories.counts },
    violations: [
      ...violations,
      ...(await watch.stop()),
      ...(await checkTables(db, { accepted: load.accepted() })),
      ...histories.violations,
      ...(await checkJournal(db)),
    ],
  };
}

async function resume(
  db: Db,
  pool: ProcessPool,
  zombies: readonly Member[],
  unheard: boolean,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (unheard) await sql`lock table workers in share mode`.execute(trx);
    for (const zombie of zombies) pool.resume(zombie);
    if (unheard) await wait(unheardMs);
  });
}

interface Caught {
  readonly zombie: Member;
  readonly prompt: string;
  /** Of the call that the zombie had made for it. */
  readonly number: number;
}

/**
 * Holds the queue row of a run of this worker until the worker's statement that ends the run waits for it; then stops
 * the worker and cuts that connection. When it comes back it still has the end to write, and nothing but the fence
 * keeps it from doing so. With `locking` the connection stays, and with it the locks that the statement then gets:
 * only the database can take them back.
 */
async function stopAtAnEnd(
  db: Db,
  pool: ProcessPool,
  zombie: Member,
  locking: boolean,
): Promise<Caught | null> {
  const endMs = performance.now() + patienceMs;
  while (performance.now() < endMs) {
    const call = pool.latest(zombie, caughtModel);
    const stopped = call && (await stopAtTheEndOf({ db, pool }, call.prompt, zombie, locking));
    if (call && stopped) return { zombie, ...call };
    await wait(20);
  }
  return null;
}

async function stopAtTheEndOf(
  { db, pool }: { readonly db: Db; readonly pool: ProcessPool },
  prompt: string,
  zombie: Member,
  locking: boolean,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ pid: number }>`
      select pg_backend_pid() as pid from execution_queue q join executions e on e.id = q.id
      where 'Hello ' || (e.input_variables ->> 'name') = ${prompt} and q.worker is not null
      for update of q`.execute(trx);
    const mine = rows[0]?.pid;
    if (mine === undefined) return false;
    // A worker that lost its lease by itself, on a slow machine, will not come; or it called for a run that had been taken
    // from it while it was stopped the last time, and then another one comes. Who waits beside it with another order is
    // this function, for another worker.
    const until = performance.now() + 5_000;
    while (performance.now() < until) {
      const { rows: waiting } = await sql<{ pid: number }>`
        select pid from pg_stat_activity where ${mine} = any (pg_blocking_pids(pid))
          and application_name = ${memberName(zombie.number)}
          and query like '%from execution_queue where id = any($1::uuid[]) order by id for update'`.execute(
        db,
      );
      if (waiting.length > 0) {
        pool.stop(zombie);
        if (locking) return true;
        await sql`select pg_terminate_backend(pid) from unnest(${waiting.map(({ pid }) => pid)}::int[]) as pid`.execute(
          db,
        );
        return true;
      }
      await wait(5);
    }
    return false;
  });
}

/** It may be one of those that are stopped a little later: what counts is that it is in other ownership. */
function begunAnew(pool: ProcessPool, { prompt, number, zombie }: Caught): boolean {
  const calls = pool.calls().get(prompt) ?? [];
  return calls.some((call) => call.number > number && call.member !== zombie);
}

/** What became of it, to see why. */
async function told(
  db: Db,
  pool: ProcessPool,
  { prompt, number, zombie }: Caught,
): Promise<string> {
  const { rows } = await sql`
    select q.worker, q.attempt, q.losses, q.available_at, e.status, e.attempts, e.completed_at, e.error_code
    from executions e left join execution_queue q on q.id = e.id
    where 'Hello ' || (e.input_variables ->> 'name') = ${prompt}`.execute(db);
  const calls = (pool.calls().get(prompt) ?? []).map(({ member, ...call }) => ({
    ...call,
    by: member.number,
  }));
  return JSON.stringify({ number, zombie: zombie.number, rows, calls });
}

/** Everything that stands in the records of ended runs. */
async function endedRows(db: Db): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; row: string }>`
    select id, e::text as row from executions e where status <> 'processing'`.execute(db);
  return new Map(rows.map(({ id, row }) => [id, row]));
}

function pick(members: readonly Member[], count: number, random: () => number): Member[] {
  return members
    .map((member) => ({ member, place: random() }))
    .sort((a, b) => a.place - b.place)
    .slice(0, count)
    .map(({ member }) => member);
}
