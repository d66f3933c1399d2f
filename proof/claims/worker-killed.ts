import { setTimeout as wait } from 'node:timers/promises';
import { addWorkspace } from '../../harness/people.ts';
import { allEnded, checkTables, watchInvariants } from '../checker.ts';
import { type Claim, type Found, percentile } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { checkHistories } from '../histories.ts';
import { checkJournal, countHandovers, startJournal } from '../journal.ts';
import { startLoad } from '../load.ts';
import { createProcessPool, type Member, type ProcessPool } from '../process-pool.ts';

/** A round kills one of three workers with `kill -9` at a random moment. Replacements start in advance. */

const workers = 3;
/** A start takes longer than the time between two kills. */
const spares = 2;
const longMs = 600;
const longModel = `numbered-${longMs}`;
const resumedMsGoal = 10_000;
/** With a shorter lease, surviving workers could not renew it while new ones use the CPU to start. */
const leaseMsMin = 1_500;

export const workerKilled: Claim = {
  name: 'worker-killed',
  description: 'No accepted execution is lost or recorded twice, however often workers are killed',
  rounds: { test: 2, short: 100, full: 1_000 },
  roundsPerEnvironment: 100,
  faults: [
    {
      name: 'uncounted-losses',
      description: 'a lost process does not count as a loss',
      file: 'engine/run/workers.ts',
      find: 'losses = q.losses + 1',
      replace: 'losses = q.losses',
    },
    {
      name: 'orphaned-executions',
      description: 'the sweep deletes a process row and leaves its executions',
      file: 'engine/run/workers.ts',
      find: 'from lost where q.id = lost.id`',
      replace: 'from lost where q.id = lost.id and false`',
    },
    {
      name: 'late-sweep',
      description: 'a lease counts as expired only long after its end',
      file: 'engine/run/workers.ts',
      find: 'return sql`lease_until < clock_timestamp()',
      replace: "return sql`lease_until + interval '12 seconds' < clock_timestamp()",
      late: true,
    },
    {
      name: 'missing-deadline',
      description: 'deadlines are not enforced',
      file: 'models/deadline.ts',
      find: 'setTimeout(() => own.abort(timeout(timeoutMs, cost)), timeoutMs)',
      replace: 'undefined',
    },
  ],
  prove,
  checkGoals: ({ samplesMs = {} }) =>
    Object.entries(samplesMs)
      .filter(([, samples]) => percentile(samples, 0.99) > resumedMsGoal)
      .map(([name]) => `${name}: p99 is beyond ${resumedMsGoal} ms`),
};

async function prove(own: ProofEnvironment, rounds: number): Promise<Found> {
  const environment = { ...own, leaseMs: Math.max(leaseMsMin, own.leaseMs) };
  const { db, leaseMs, random } = environment;
  await startJournal(db);
  const pool = createProcessPool(environment);
  const [api] = await Promise.all([
    pool.start('api'),
    ...Array.from({ length: Math.min(workers, rounds + 1) }, () => pool.start('worker')),
  ]);
  const loads = await startLoads(environment, () => [api.process?.url ?? '']);
  const watch = watchInvariants(db, 200);
  for (let left = rounds; left > 0; left--) {
    // No more than the remaining kills need: one worker survives.
    pool.fill('worker', Math.min(workers + spares, left + 1));
    // A survivor must renew its lease for a whole lease before it may take over executions.
    await wait(leaseMs * (0.5 + random() / 2));
    const enough = Math.min(workers, left + 1);
    while (pool.up('worker').length < enough && pool.failed().length === 0) await wait(5);
    const up = pool.up('worker');
    const victim = up[Math.floor(random() * up.length)];
    if (victim) await untilLongCall(pool, victim);
    await wait(longMs * random());
    if (victim) await pool.kill(victim);
  }
  await Promise.all(loads.map((load) => load.stop()));
  await pool.settled();
  const ended = await allEnded(db);
  const sent = loads.flatMap((load) => load.sent);
  const unanswered = sent.filter(({ outcome }) => outcome.kind !== 'accepted');
  const histories = await checkHistories(db, pool.calls());
  const { taken, released } = await countHandovers(db);
  return {
    counts: {
      kills: rounds,
      accepted: sent.length - unanswered.length,
      ...histories.counts,
      'executions taken from a lost process': taken,
      'executions released by their owner': released,
    },
    samplesMs: { [`resumed after a kill, lease ${leaseMs} ms`]: histories.resumedMs },
    violations: [
      ...(ended ? [] : ['not all executions ended']),
      ...unanswered.map(
        ({ name, outcome }) => `${name} was not accepted: ${JSON.stringify(outcome)}`,
      ),
      ...(await watch.stop()),
      ...(await checkTables(db, { accepted: loads.flatMap((load) => load.accepted()) })),
      ...histories.violations,
      ...(await checkJournal(db)),
      ...pool.failed(),
    ],
  };
}

/** Waits until this worker starts a long call, so that it has an execution to lose. On a slow machine it may find none. */
async function untilLongCall(pool: ProcessPool, victim: Member): Promise<void> {
  const before = pool.latest(victim, longModel)?.number ?? 0;
  const limit = performance.now() + 5_000;
  while ((pool.latest(victim, longModel)?.number ?? 0) === before) {
    if (performance.now() > limit) return;
    await wait(5);
  }
}

/** Executions in two workspaces: short and long, with and without `maxConcurrency`, at most once, and unanswered. */
async function startLoads(environment: ProofEnvironment, urls: () => string[]) {
  const other = await addWorkspace(environment.db);
  const { workspaceId, ownerId: userId } = other;
  const own = [
    { model: 'ollama/numbered-100' },
    { model: 'ollama/numbered-100', config: { maxConcurrency: 8 } },
    { model: 'ollama/numbered-250', config: { maxAttempts: 1 } },
    { model: `ollama/${longModel}` },
    // Without a response: the owner at the deadline must end the execution.
    { model: 'ollama/hang', config: { timeoutMs: 1_000 } },
  ];
  const others = [
    { model: 'ollama/numbered-250', workspaceId, createdBy: userId },
    { model: 'ollama/numbered-50', workspaceId, createdBy: userId, config: { maxConcurrency: 4 } },
  ];
  const clients = { urls, clients: 3, pauseMs: 60 };
  const [keys, agents] = await Promise.all([
    Promise.all([environment.key(), environment.key({ workspaceId, userId })]),
    Promise.all(
      [own, others].map((options) => Promise.all(options.map((one) => environment.agent(one)))),
    ),
  ]);
  return keys.map(({ key }, index) =>
    startLoad({ ...clients, key, agents: agents[index] ?? [], named: `load-${index}` }),
  );
}
