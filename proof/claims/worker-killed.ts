import { setTimeout as wait } from 'node:timers/promises';
import { addWorkspace } from '../../harness/people.ts';
import { allEnded, checkTables, watchInvariants } from '../checker.ts';
import { type Claim, type Found, percentile } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { checkHistories } from '../histories.ts';
import { checkJournal, handedOn, keepJournal } from '../journal.ts';
import { startLoad } from '../load.ts';
import { createProcessPool, type Member, type ProcessPool } from '../process-pool.ts';

/** A round is the `kill -9` of one of three workers, at any moment. Those that replace it are started ahead. */

const workers = 3;
/** A start takes longer than the time from one kill to the next. */
const startedAhead = 2;
const longMs = 600;
const longModel = `numbered-${longMs}`;
const resumedMsGoal = 10_000;
/**
 * The workers that start take the machine for themselves. With a shorter lease those that survive cannot renew theirs in
 * time: they hand all that they have on, again and again, and what is measured is that.
 */
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
      file: 'store/execution/workers.ts',
      find: 'losses = q.losses + 1',
      replace: 'losses = q.losses',
    },
    {
      name: 'orphaned-executions',
      description: 'the sweep deletes a process row and leaves its executions',
      file: 'store/execution/workers.ts',
      find: 'from lost where q.id = lost.id',
      replace: 'from lost where q.id = lost.id and false',
    },
    {
      name: 'late-sweep',
      description: 'a lease counts as expired only long after its end',
      file: 'store/execution/workers.ts',
      find: 'return sql`lease_until < clock_timestamp()',
      replace: "return sql`lease_until + interval '12 seconds' < clock_timestamp()",
      late: true,
    },
    {
      name: 'missing-deadline',
      description: 'deadlines are not enforced',
      file: 'net/deadline.ts',
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
  await keepJournal(db);
  const pool = createProcessPool(environment);
  const [api] = await Promise.all([
    pool.start('api'),
    ...Array.from({ length: Math.min(workers, rounds + 1) }, () => pool.start('worker')),
  ]);
  const loads = await startLoads(environment, () => [api.process?.url ?? '']);
  const watch = watchInvariants(db, 200);
  for (let left = rounds; left > 0; left--) {
    // No more than there are kills to come: the last of them leaves one.
    pool.fill('worker', Math.min(workers + startedAhead, left + 1));
    // One of those that survive must be in touch for a whole lease before it may take the runs of others.
    await wait(leaseMs * (0.5 + random() / 2));
    const enough = Math.min(workers, left + 1);
    while (pool.up('worker').length < enough && pool.failed().length === 0) await wait(5);
    const up = pool.up('worker');
    const victim = up[Math.floor(random() * up.length)];
    if (victim) await atWork(pool, victim);
    await wait(longMs * random());
    if (victim) await pool.kill(victim);
  }
  await Promise.all(loads.map((load) => load.stop()));
  await pool.settled();
  const ended = await allEnded(db, 60_000 + 5 * leaseMs);
  const sent = loads.flatMap((load) => load.sent);
  const unanswered = sent.filter(({ outcome }) => outcome.kind !== 'accepted');
  const histories = await checkHistories(db, pool.calls());
  const { taken, given } = await handedOn(db);
  return {
    counts: {
      kills: rounds,
      accepted: sent.length - unanswered.length,
      ...histories.counts,
      'executions taken from a lost process': taken,
      'executions released by their owner': given,
    },
    samplesMs: { [`resumed after a kill, lease ${leaseMs} ms`]: histories.resumedMs },
    violations: [
      ...(ended ? [] : ['not all executions ended']),
      ...unanswered.map(({ name, outcome }) => `${name} was not accepted: ${said(outcome)}`),
      ...(await watch.stop()),
      ...(await checkTables(db, { accepted: loads.flatMap((load) => load.accepted()) })),
      ...histories.violations,
      ...(await checkJournal(db)),
      ...pool.failed(),
    ],
  };
}

/** Waits until this worker begins a long call, so that it has something to lose; some find no work on a slow machine. */
async function atWork(pool: ProcessPool, victim: Member): Promise<void> {
  const before = pool.latest(victim, longModel)?.number ?? 0;
  const limit = performance.now() + 5_000;
  while ((pool.latest(victim, longModel)?.number ?? 0) === before) {
    if (performance.now() > limit) return;
    await wait(5);
  }
}

/** Short and long runs, with a cap and without, at most once, some that are never answered, and in two workspaces. */
async function startLoads(environment: ProofEnvironment, urls: () => string[]) {
  const other = await addWorkspace(environment.db);
  const { workspaceId, ownerId: userId } = other;
  const own = [
    { model: 'ollama/numbered-100' },
    { model: 'ollama/numbered-100', config: { maxConcurrency: 8 } },
    { model: 'ollama/numbered-250', config: { maxAttempts: 1 } },
    { model: `ollama/${longModel}` },
    // Never answered: the worker that has it at its deadline must end it.
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

function said(value: unknown): string {
  return JSON.stringify(value);
}
