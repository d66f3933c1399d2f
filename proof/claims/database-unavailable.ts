import { setTimeout as wait } from 'node:timers/promises';
import type { Trx } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import { checkAnswers, countAnswers } from '../answers.ts';
import { allEnded, checkTables } from '../checker.ts';
import type { Claim, Found } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { startLoad } from '../load.ts';
import { startProxy } from '../proxy.ts';
import { until } from '../until.ts';

/**
 * Rounds alternate between three failures: the database has no connection left; statements time out on a lock; reads
 * that wait for a lock exhaust the pool, and further reads wait for a connection.
 */

const statementMsMax = 1_000;
/** More than the pool serves before the last of them times out. */
const reads = 120;

export const databaseUnavailable: Claim = {
  name: 'database-unavailable',
  description:
    'While the database refuses connections or statements time out, calls get 503, no process exits, and nothing acknowledged is lost',
  rounds: { test: 3, short: 9, full: 60 },
  roundsPerEnvironment: 20,
  faults: [
    {
      name: 'outage-as-internal-error',
      description: 'refused connections and statement timeouts count as internal errors',
      file: 'db/database-error.ts',
      find: '(08|40|53|55|57)[0-9A-Z]{3}',
      replace: '(08|40|55)[0-9A-Z]{3}',
    },
    {
      name: 'pool-timeout-as-internal-error',
      description: 'an exhausted pool counts as an internal error',
      file: 'db/database-error.ts',
      find: '|timeout exceeded when trying to connect$',
      replace: '',
    },
  ],
  prove,
};

async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  const { db, leaseMs } = environment;
  const proxy = await startProxy(environment.connection);
  const connection = { ...proxy.connection, statement_timeout: statementMsMax };
  const env = { CUELINE_LEASE_MS: String(leaseMs) };
  const processes = await Promise.all([
    environment.spawn('start', env, connection),
    environment.spawn('worker', env, connection),
  ]);
  const key = await environment.key();
  const agents = [await environment.agent({ model: 'ollama/after-20' })];
  const urls = () => processes.slice(0, 1).map((one) => one.url);
  const clients = { urls, key: key.key, agents, clients: 3, pauseMs: 10 };
  const loads = [
    startLoad({ ...clients, named: 'plain' }),
    startLoad({ ...clients, retry: true, named: 'retried' }),
  ];
  const [plain] = loads;
  const seen = (kind: 'accepted' | 'refused') => {
    const from = plain?.sent.length ?? 0;
    return () => plain?.sent.slice(from).some(({ outcome }) => outcome.kind === kind) ?? false;
  };
  const violations: string[] = [];

  for (let round = 0; round < rounds; round++) {
    if (!(await until(seen('accepted')))) violations.push('no call was accepted');
    const refused = seen('refused');
    if (round % 3 === 0) {
      await connectionsMax(environment, 0);
      proxy.cut();
      if (!(await until(refused))) violations.push(noRefusal);
      await connectionsMax(environment, -1);
    } else if (round % 3 === 1) {
      await db.transaction(async (trx) => {
        await sql`select from limits where subject = ${key.id} for update`.execute(trx);
        if (!(await until(refused))) violations.push(noRefusal);
      });
    } else {
      await db.transaction(async (trx) => {
        await sql`lock table prompts in access exclusive mode`.execute(trx);
        const read = readPrompts(processes[0].url, key.key);
        violations.push(...(await keepActive(trx, read)));
      });
    }
  }
  if (!(await until(seen('accepted')))) violations.push('no call was accepted');
  await Promise.all(loads.map((load) => load.stop()));
  if (processes.some(({ child }) => child.exitCode !== null)) violations.push('a process exited');
  if (!(await allEnded(db))) violations.push('not all executions ended');
  await proxy.close();
  const sent = loads.flatMap((load) => load.sent);
  const accepted = loads.flatMap((load) => load.accepted());
  return {
    counts: { rounds, ...countAnswers(sent) },
    violations: [
      ...violations,
      ...(await checkAnswers(db, sent)),
      ...(await checkTables(db, { accepted, allowUnknown: true })),
    ],
  };
}

/** Keeps the transaction active during the work: the idle timeout would end it and release its locks. */
async function keepActive<T>(trx: Trx, work: Promise<T>): Promise<T> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  work.then(settle, settle);
  while (!settled) await Promise.all([sql`select`.execute(trx), wait(500)]);
  return work;
}

/** Sends concurrent reads and describes each response that is not a 503. */
async function readPrompts(url: string, key: string): Promise<string[]> {
  const answers = await Promise.all(
    Array.from({ length: reads }, async () => {
      const headers = { authorization: `Bearer ${key}` };
      const response = await fetch(`${url}/api/v1/prompts`, { headers });
      const text = await response.text();
      const unavailable = response.status === 503 && response.headers.has('retry-after');
      return unavailable ? [] : `a read without a connection got ${response.status} ${text}`;
    }),
  );
  return answers.flat();
}

const noRefusal = 'no call was refused while the database was unavailable';

/** Superusers are exempt. */
async function connectionsMax({ db, connection }: ProofEnvironment, most: number): Promise<void> {
  const { database = '' } = connection;
  await sql`alter database ${sql.table(database)} connection limit ${sql.lit(most)}`.execute(db);
}
