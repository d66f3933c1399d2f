import { setTimeout as wait } from 'node:timers/promises';
import { sql } from '../../src/db/sql.ts';
import { checkAnswers, countAnswers } from '../answers.ts';
import { allEnded, checkTables } from '../checker.ts';
import type { Claim, Found } from '../claim.ts';
import { openEnvironment, type ProofEnvironment } from '../environment.ts';
import { type Load, startLoad } from '../load.ts';
import { type OwnDatabase, startOwnDatabase } from '../own-database.ts';

/** A round restarts PostgreSQL under load, alternating between SIGKILL and SIGINT. */

const recoveryMsGoal = 3_000;
const firstAccepted = 'first 202 after recovery';
const firstEnded = 'first execution that ends after recovery';
const lastRefused = 'last 503 of any process after recovery';
const settledMs = 500;

export const databaseRestarted: Claim = {
  name: 'database-restarted',
  description:
    'During a restart of PostgreSQL no process exits, calls get 202 or 503, and nothing acknowledged is lost',
  rounds: { test: 2, short: 4, full: 30 },
  roundsPerEnvironment: 10,
  faults: [
    {
      name: 'unhandled-listen-error',
      description: 'errors of the LISTEN connection are not handled',
      file: 'db/notifications.ts',
      find: "client.on('error', lost);",
      replace: '',
    },
    {
      name: 'restart-as-internal-error',
      description: 'a database outage counts as an internal error',
      file: 'http/response/error-response.ts',
      find: 'if (isUnavailable(thrown)) {',
      replace: 'if (false) {',
    },
  ],
  prove,
  checkGoals: ({ samplesMs = {} }) =>
    Object.entries(samplesMs)
      .filter(([, samples]) => samples.some((ms) => ms > recoveryMsGoal))
      .map(([name]) => `${name}: beyond ${recoveryMsGoal} ms`),
};

async function prove({ fault, leaseMs }: ProofEnvironment, rounds: number): Promise<Found> {
  const database = await startOwnDatabase();
  const environment = await openEnvironment({ fault, seed: 1, leaseMs, database });
  try {
    return await proveOn(environment, database, rounds);
  } finally {
    await environment.close();
  }
}

async function proveOn(
  environment: ProofEnvironment,
  database: OwnDatabase,
  rounds: number,
): Promise<Found> {
  const { db, leaseMs } = environment;
  const env = { CUELINE_LEASE_MS: String(leaseMs) };
  const roles = ['api', 'start', 'worker'] as const;
  const processes = await Promise.all(roles.map((role) => environment.spawn(role, env)));
  const exited = () => roles.filter((_, index) => processes[index]?.child.exitCode !== null);
  const { key } = await environment.key();
  const agents = [
    await environment.agent({ model: 'ollama/after-50' }),
    await environment.agent({ model: 'ollama/after-50', config: { maxConcurrency: 4 } }),
  ];
  const urls = () => processes.slice(0, 2).map(({ url }) => url);
  const clients = { urls, key, agents, clients: 3, pauseMs: 20 };
  const loads = [startLoad(clients), startLoad({ ...clients, retry: true, named: 'retried' })];
  const recovery = {
    [firstAccepted]: [] as number[],
    [firstEnded]: [] as number[],
    [lastRefused]: [] as number[],
  };

  for (let round = 0; round < rounds && exited().length === 0; round++) {
    await wait(200 + environment.random() * leaseMs);
    const downMs = performance.now();
    const upMs = await database.restart(round % 2 === 0 ? 'SIGKILL' : 'SIGINT');
    await until(exited, () => loads.some((load) => acceptedSince(load, upMs)));
    recovery[firstAccepted].push(performance.now() - upMs);
    await until(exited, () => endedSinceStart(environment));
    recovery[firstEnded].push(performance.now() - upMs);
    // Until the other process has recovered too: calls alternate between both.
    await wait(settledMs);
    recovery[lastRefused].push(lastRefusal(loads, downMs) - upMs);
  }
  await Promise.all(loads.map((load) => load.stop()));
  const gone = exited().map((role) => `the ${role} process exited`);
  if (gone.length > 0) return { counts: {}, violations: gone };
  const ended = await allEnded(db);
  const sent = loads.flatMap((load) => load.sent);
  const accepted = loads.flatMap((load) => load.accepted());
  return {
    counts: { restarts: rounds, ...countAnswers(sent) },
    samplesMs: recovery,
    violations: [
      ...(ended ? [] : ['not all executions ended']),
      ...(await checkAnswers(db, sent)),
      ...(await checkTables(db, { accepted, allowUnknown: true })),
    ],
  };
}

/** Polls often, because it determines the measured times. */
async function until(
  exited: () => readonly string[],
  condition: () => boolean | Promise<boolean>,
): Promise<void> {
  while (exited().length === 0 && !(await condition())) await wait(5);
}

function acceptedSince({ sent }: Load, ms: number): boolean {
  return sent.some(({ outcome, answeredMs }) => outcome.kind === 'accepted' && answeredMs >= ms);
}

function lastRefusal(loads: readonly Load[], sinceMs: number): number {
  const refused = loads.flatMap(({ sent }) =>
    sent.filter(({ outcome, answeredMs }) => outcome.kind === 'refused' && answeredMs > sinceMs),
  );
  return Math.max(sinceMs, ...refused.map(({ answeredMs }) => answeredMs));
}

async function endedSinceStart({ db }: ProofEnvironment): Promise<boolean> {
  const { rows } = await sql`
    select from executions where completed_at > pg_postmaster_start_time() limit 1`.execute(db);
  return rows.length > 0;
}
