import { setTimeout as wait } from 'node:timers/promises';
import { checkAnswers, countAnswers } from '../answers.ts';
import { allEnded, checkTables } from '../checker.ts';
import type { Claim, Found } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { startLoad } from '../load.ts';
import { type DatabaseProxy, startProxy } from '../proxy.ts';

/** A round breaks connections between Cueline and PostgreSQL, mostly between a commit and its acknowledgement. */

/** Used round-robin. `after`: the database has committed; `before`: it never received the commit. */
const breaks: readonly ((proxy: DatabaseProxy, random: () => number) => Promise<void>)[] = [
  (proxy) => atNext(proxy, /admission-.*plain-\d.*commit/s, 'after'),
  (proxy) => atNext(proxy, /admission-.*plain-\d.*commit/s, 'before'),
  (proxy) => atNext(proxy, /admission-.*retried-\d.*commit/s, 'after'),
  (proxy) => atNext(proxy, /completion-move.*commit/s, 'after'),
  (proxy) => atNext(proxy, /completion-move.*commit/s, 'before'),
  atAnyMoment,
  unreachableAfterCommit,
];

export const commitUnacknowledged: Claim = {
  name: 'commit-unacknowledged',
  description:
    'If a commit is not acknowledged, clients learn its outcome, and a retry with its key creates one execution',
  rounds: { test: 4, short: 35, full: 350 },
  roundsPerEnvironment: 70,
  faults: [
    {
      name: 'lost-commit-as-committed',
      description: 'a lost commit counts as committed',
      file: 'engine/transaction/await-commit.ts',
      find: "if (outcome === 'aborted') throw error;",
      replace: "if (outcome === 'aborted') return;",
    },
    {
      name: 'unresolved-commit',
      description: 'an unacknowledged commit counts as lost',
      file: 'engine/transaction/await-commit.ts',
      find: 'const until = performance.now() + lookupMs;',
      replace: 'throw error; const until = 0;',
    },
  ],
  prove,
};

async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  const { db, leaseMs, random } = environment;
  const proxy = await startProxy(environment.connection);
  const env = { CUELINE_LEASE_MS: String(leaseMs) };
  const { url } = await environment.spawn('start', env, proxy.connection);
  const { key } = await environment.key();
  const agents = [await environment.agent({ model: 'ollama/after-5' })];
  const clients = { urls: () => [url], key, agents, clients: 3, pauseMs: 5 };
  const loads = [
    startLoad({ ...clients, named: 'plain' }),
    startLoad({ ...clients, retry: true, named: 'retried' }),
  ];
  for (let round = 0; round < rounds; round++) {
    await wait(100 * random());
    await breaks[round % breaks.length]?.(proxy, random);
  }
  await Promise.all(loads.map((load) => load.stop()));
  const ended = await allEnded(db);
  const sent = loads.flatMap((load) => load.sent);
  const counts = countAnswers(sent);
  await proxy.close();
  return {
    counts: { breaks: rounds, ...counts },
    violations: [
      ...(ended ? [] : ['not all executions ended']),
      ...(rounds < breaks.length || counts.OUTCOME_UNKNOWN
        ? []
        : ['no call got OUTCOME_UNKNOWN while the database was unreachable']),
      ...(await checkAnswers(db, sent)),
      ...(await checkTables(db, {
        accepted: loads.flatMap((load) => load.accepted()),
        allowUnknown: true,
      })),
    ],
  };
}

const timeoutMs = 60_000;

/** Breaks the next connection that sends a matching message. */
async function atNext(proxy: DatabaseProxy, sent: RegExp, side: 'before' | 'after'): Promise<void> {
  const { promise: broken, resolve } = Promise.withResolvers<true>();
  proxy.onSent = (_link, text) => {
    if (!sent.test(text)) return null;
    proxy.onSent = null;
    resolve(true);
    return side;
  };
  const timeout = wait(timeoutMs, false, { ref: false });
  if (!(await Promise.race([broken, timeout]))) {
    throw new Error(`no message to the database matched ${sent}`);
  }
}

async function atAnyMoment(proxy: DatabaseProxy, random: () => number): Promise<void> {
  for (let cuts = 0; cuts < 5; cuts++) {
    proxy.cut(() => random() < 0.7);
    await wait(40 * random());
  }
}

/** Longer than the service tries to resolve a commit. */
const unreachableMs = 7_000;

async function unreachableAfterCommit(proxy: DatabaseProxy): Promise<void> {
  await atNext(proxy, /admission-.*plain-\d.*commit/s, 'after');
  proxy.refuse();
  await wait(unreachableMs);
  proxy.heal();
}
