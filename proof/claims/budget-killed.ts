import type { TestAgent } from '../../harness/agents.ts';
import { addPrice } from '../../harness/budgets.ts';
import type { Db } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import { addRoom, checkEndedCalls, watchBudgets } from '../budget-checks.ts';
import type { Claim, Found } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { startLoad } from '../load.ts';
import { type DatabaseProxy, startProxy, statementEnds } from '../proxy.ts';
import { until } from '../until.ts';

/**
 * A round crashes a process between two statements of a transaction that changes a budget: an acceptance, a later reservation, a
 * release or an end. PostgreSQL receives the statements before the crash, and executes them. The rounds take every position of
 * each in turn. Another process takes over.
 *
 * Models fail, answer without their usage, or hang until a fallback is called. The budget has room for a part of what is sent.
 */

const crashing = 'crashing-process';
const maxTokens = 10;
/** Input is free. Answers have five tokens, so that a call costs half of its bound. */
const boundUsd = 0.001;
const models = [
  'ollama/server-error',
  'ollama/uncounted',
  'ollama/hang',
  'ollama/after-5',
] as const;

/** What tells the transactions apart. */
const moments = [
  'admission-insert-executions',
  'budgets-write-reservations',
  'completion-insert-settlements',
  'insert into budget_settlements',
];

export const budgetKilled: Claim = {
  name: 'budget-killed',
  description:
    'A crash between any two statements that change a budget leaves nothing reserved and charges nothing twice',
  rounds: { test: 4, short: 40, full: 400 },
  roundsPerEnvironment: 40,
  faults: [
    {
      name: 'settle-twice',
      description: 'a release settles a call, and leaves its reservation to the next end',
      file: 'engine/run/queue.ts',
      find: 'then null else q.reservations end,',
      replace: 'then q.reservations else q.reservations end,',
    },
    {
      name: 'reserve-after-send',
      description: 'a later call is sent without waiting for its reservation',
      file: 'engine/run/reserve-next.ts',
      find: 'const reserved = await reserve({ execution, bound });',
      replace:
        "void reserve({ execution, bound }).catch(() => {}); const reserved = { kind: 'reserved' };",
    },
    {
      name: 'lost-reservation',
      description: 'the sweep of a lost process settles nothing',
      file: 'engine/run/workers.ts',
      find: 'settleReservations(sql`lost`,',
      replace: 'settleReservations(sql`(select * from lost where false) as none`,',
    },
  ],
  prove,
};

async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  const { db, leaseMs } = environment;
  const lease = { CUELINE_LEASE_MS: String(leaseMs) };
  for (const model of models) {
    await addPrice(environment, { model, perToken: boundUsd / maxTokens });
  }
  const agents = await addAgents(environment);
  const proxy = await startProxy({ ...environment.connection, application_name: crashing });
  const { key } = await environment.key();
  const survivor = await environment.spawn('start', lease);
  const watch = watchBudgets(db);
  const counts = { crashes: 0, accepted: 0 };
  const violations: string[] = [];
  for (let round = 0; round < rounds; round++) {
    // Room for some calls of this round, whatever the earlier ones have left.
    await addRoom(environment, (20 + (round % 5)) * boundUsd);
    const process = await environment.spawn('start', lease, proxy.connection);
    const crash = crashAt(
      proxy,
      moments[round % moments.length] ?? '',
      Math.floor(round / moments.length),
    );
    const urls = () => (crash.isOver ? [survivor.url] : [process.url, survivor.url]);
    const load = startLoad({ urls, key, agents, clients: 4, callsMax: 40, named: `r${round}` });
    let isSent = false;
    void load.done.then(() => {
      isSent = true;
    });
    await until(async () => crash.isOver || (isSent && (await isIdle(db))));
    await process.kill('SIGKILL');
    proxy.onSent = null;
    await load.stop();
    if (crash.isOver) counts.crashes++;
    else violations.push(`round ${round} had no ${crash.moment}`);
    counts.accepted += load.acceptedCount;
    await sql`
      update workers set lease_until = clock_timestamp() - interval '1 hour'
      where id in (select worker from execution_queue) and lease_until < clock_timestamp()`.execute(
      db,
    );
  }
  await proxy.close();
  violations.push(...(await checkEndedCalls(environment, watch, boundUsd)));
  return { counts, violations };
}

async function addAgents(environment: ProofEnvironment): Promise<TestAgent[]> {
  const config = { maxTokens, maxAttempts: 3 };
  const hanging = { models: ['ollama/hang', 'ollama/after-5'], attemptTimeoutMs: 1_000 };
  const failing = { models: ['ollama/server-error', 'ollama/after-5'], maxAttempts: 1 };
  return Promise.all([
    environment.agent({ model: 'ollama/server-error', config: { ...config, ...failing } }),
    environment.agent({ model: 'ollama/server-error', config: { ...config, ...failing } }),
    environment.agent({ model: 'ollama/uncounted', config }),
    environment.agent({ model: 'ollama/hang', config: { ...config, ...hanging } }),
    environment.agent({ model: 'ollama/after-5', config }),
  ]);
}

async function isIdle(db: Db): Promise<boolean> {
  const { rows } = await sql`select from execution_queue limit 1`.execute(db);
  return rows.length === 0;
}

interface Crash {
  readonly moment: string;
  isOver: boolean;
}

/** Cuts the next batch that contains `moment` after some of its statements, and everything afterwards. */
function crashAt(proxy: DatabaseProxy, moment: string, turn: number): Crash {
  const crash: Crash = { moment, isOver: false };
  proxy.onSent = (_link, text) => {
    if (crash.isOver) return 'before';
    if (!text.includes(moment)) return null;
    crash.isOver = true;
    const ends = statementEnds(text);
    const position = turn % (ends.length + 1);
    if (position === ends.length) return 'after';
    return ends[position - 1] ?? 'before';
  };
  return crash;
}
