import { setTimeout as wait } from 'node:timers/promises';
import type { Db } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import { allEnded, checkTables, watchInvariants } from '../checker.ts';
import type { Claim, Found } from '../claim.ts';
import { type ProofEnvironment, shuffle } from '../environment.ts';
import { checkHistories } from '../histories.ts';
import { checkJournal, memberName, startJournal } from '../journal.ts';
import { startLoad } from '../load.ts';
import { createProcessPool, type Member, type ProcessPool } from '../process-pool.ts';
import { until } from '../until.ts';

/**
 * A round pauses one worker with SIGSTOP while it writes the end of an execution, and resumes it after another process
 * has restarted that execution. Up to three workers are paused at the same time.
 */

const pausedMax = 3;
const caughtModel = 'numbered-800';
/** Long enough to retry a failed write, short compared to a lease. */
const lockedMs = 200;
/** Longer than anything takes on a slow machine. */
const timeoutMs = 120_000;

export const workerPaused: Claim = {
  name: 'worker-paused',
  description: 'A worker that is paused beyond its lease and resumed overwrites nothing',
  rounds: { test: 1, short: 20, full: 200 },
  roundsPerEnvironment: 20,
  faults: [
    {
      name: 'missing-fence',
      description: 'the end of an execution does not check its owner',
      file: 'engine/complete/finish.ts',
      find: '(row.worker === end.fence.worker && row.attempt === end.fence.attempt)',
      replace: 'true',
      // On a busy machine a resumed worker may detect its loss before it writes.
      rounds: 6,
    },
  ],
  prove,
};

async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  const { db, random } = environment;
  await startJournal(db);
  const pool = createProcessPool(environment);
  const [api, ...workers] = await Promise.all([
    pool.start('api'),
    ...Array.from({ length: Math.min(pausedMax, rounds) + 1 }, () => pool.start('worker')),
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
  for (let done = 0, pauses = 0; done < rounds && violations.length === 0; pauses++) {
    const zombies = shuffle(workers, random).slice(0, Math.min(pausedMax, rounds - done));
    const ends = await Promise.all(
      zombies.map((zombie, index) => pauseDuringEnd(db, pool, zombie, (done + index) % 4 === 3)),
    );
    const caught = ends.filter((one) => one !== null);
    if (caught.length < zombies.length)
      violations.push('no statement that ends an execution could be intercepted');
    for (const one of caught) {
      if (!(await until(() => isRestarted(pool, one)))) {
        const details = await describe(db, pool, one);
        violations.push(`${one.prompt} was not taken from its process: ${details}`);
      }
    }
    // Some resume while another process still executes, some only after the end.
    if (random() < 0.5) await wait(1_500 * random());
    for (const [id, row] of await endedRows(db)) if (!seen.has(id)) seen.set(id, row);
    // Every other time a lock delays the detection of the lost lease until after the retried write.
    await resume(db, pool, zombies, pauses % 2 === 0);
    for (const { zombie, number } of caught) {
      const resumed = () => (pool.latest(zombie, caughtModel)?.number ?? 0) > number;
      if (!(await until(resumed))) violations.push(`worker ${zombie.number} did not resume`);
    }
    done += zombies.length;
  }
  await load.stop();
  if (!(await allEnded(db))) violations.push('not all executions ended');
  const after = await endedRows(db);
  for (const [id, row] of seen) {
    if (after.get(id) !== row) violations.push(`the record of ${id} was overwritten`);
  }
  const histories = await checkHistories(db, pool.calls());
  return {
    counts: { pauses: rounds, 'records compared': seen.size, ...histories.counts },
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
  locking: boolean,
): Promise<void> {
  await db.transaction(async (trx) => {
    if (locking) await sql`lock table workers in share mode`.execute(trx);
    for (const zombie of zombies) pool.resume(zombie);
    if (locking) await wait(lockedMs);
  });
}

interface Caught {
  readonly zombie: Member;
  readonly prompt: string;
  /** The number of the zombie's model call. */
  readonly number: number;
}

/**
 * Locks the queue row of one of the worker's executions until the worker's statement that ends it waits for the lock;
 * then pauses the worker and cuts that connection. After the resume the worker retries the write, and only the fence
 * prevents it. With `locking` the connection stays and gets the locks, which only the database can release.
 */
async function pauseDuringEnd(
  db: Db,
  pool: ProcessPool,
  zombie: Member,
  locking: boolean,
): Promise<Caught | null> {
  const endMs = performance.now() + timeoutMs;
  while (performance.now() < endMs) {
    const call = pool.latest(zombie, caughtModel);
    const paused = call && (await pauseAtEndOf({ db, pool }, call.prompt, zombie, locking));
    if (call && paused) return { zombie, ...call };
    await wait(20);
  }
  return null;
}

async function pauseAtEndOf(
  { db, pool }: { readonly db: Db; readonly pool: ProcessPool },
  prompt: string,
  zombie: Member,
  locking: boolean,
): Promise<boolean> {
  return db.transaction(async (trx) => {
    const { rows } = await sql<{ pid: number }>`
      select pg_backend_pid() as pid from execution_queue
      where 'Hello ' || (input_variables ->> 'name') = ${prompt} and worker is not null
      for update`.execute(trx);
    const mine = rows[0]?.pid;
    if (mine === undefined) return false;
    // The statement may never come: on a slow machine the worker may have lost its lease, or its execution during its last
    // pause. Statements with another order are from this function, for another worker.
    const until = performance.now() + 5_000;
    while (performance.now() < until) {
      const { rows: waiting } = await sql<{ pid: number }>`
        select pid from pg_stat_activity where ${mine} = any (pg_blocking_pids(pid))
          and application_name = ${memberName(zombie.number)}
          and query like '%from execution_queue q where id = any($1::uuid[]) order by id for update'`.execute(
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

/** Another member called the model. It may be paused too; only the change of the owner counts. */
function isRestarted(pool: ProcessPool, { prompt, number, zombie }: Caught): boolean {
  const calls = pool.calls().get(prompt) ?? [];
  return calls.some((call) => call.number > number && call.member !== zombie);
}

/** The rows and calls of the execution, to diagnose a violation. */
async function describe(
  db: Db,
  pool: ProcessPool,
  { prompt, number, zombie }: Caught,
): Promise<string> {
  const { rows } = await sql`
    select q.worker, q.attempt, q.losses, q.available_at, e.status, e.attempts, e.completed_at, e.error_code
    from all_executions e left join execution_queue q on q.id = e.id
    where 'Hello ' || (e.input_variables ->> 'name') = ${prompt}`.execute(db);
  const calls = (pool.calls().get(prompt) ?? []).map(({ member, ...call }) => ({
    ...call,
    by: member.number,
  }));
  return JSON.stringify({ number, zombie: zombie.number, rows, calls });
}

/** The complete records of ended executions. */
async function endedRows(db: Db): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; row: string }>`
    select id, e::text as row from executions e`.execute(db);
  return new Map(rows.map(({ id, row }) => [id, row]));
}
