import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import type { CuelineProcess } from '../../harness/process.ts';
import { allEnded, checkTables } from '../checker.ts';
import type { Claim } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { startLoad } from '../load.ts';
import { type OutageProvider, startOutageProvider } from '../outage.ts';

/** A round is a second of an outage, all rounds one outage: of ten minutes in full. */

const workers = 2;
const slots = 8;
/** What waits for the provider at once, and is followed by others while it is out. */
const backlog = 60;
const following = { clients: 4, pauseMs: 500 };
/** How long an outage may go on until each process has seen it. */
const noticeMs = 10_000;
/** So many come back within it that without a window they would be a crowd. */
const answerAfterMs = 400;
const endMs = 120_000;

export const providerOutage: Claim = {
  name: 'provider-outage',
  description:
    'A failing provider gets a few calls however many executions wait; after its recovery calls ramp up, and all executions end',
  rounds: { test: 1, short: 30, full: 600 },
  roundsPerEnvironment: 600,
  faults: [
    {
      name: 'breaker-never-opens',
      description: 'the circuit breaker never opens',
      file: 'core/model/breaker.ts',
      find: 'const failuresMax = 10;',
      replace: 'const failuresMax = Number.POSITIVE_INFINITY;',
    },
    {
      name: 'no-ramp-up',
      description: 'the circuit breaker admits all calls after its pause',
      file: 'core/model/breaker.ts',
      find: 'nowMs + pauseMs * (0.5 + random), 1);',
      replace: 'nowMs + pauseMs * (0.5 + random), Number.POSITIVE_INFINITY);',
    },
  ],
  async prove(environment, rounds) {
    const provider = await startOutageProvider(answerAfterMs);
    try {
      return await proveWith(provider, environment, rounds);
    } finally {
      await provider.close();
    }
  },
};

async function proveWith(provider: OutageProvider, environment: ProofEnvironment, rounds: number) {
  const env = { OLLAMA_BASE_URL: provider.url, CUELINE_LEASE_MS: '6000' };
  const [api, ...working] = await Promise.all([
    environment.spawn('api', env),
    ...Array.from({ length: workers }, () =>
      environment.spawn('worker', { ...env, CUELINE_SLOTS: String(slots) }),
    ),
  ]);
  const { key } = await environment.key();
  const agents = [await environment.agent({ model: 'ollama/any', config: { maxAttempts: 5 } })];
  const urls = () => [api.url];
  const violations: string[] = [];

  provider.out();
  const outAt = performance.now();
  const outMs = () => performance.now() - outAt;
  const first = startLoad({ urls, key, agents, clients: 20, callsMax: backlog });
  const more = startLoad({ urls, key, agents, ...following });
  const opened = new Set<CuelineProcess>();
  for (;;) {
    for (const one of working) if (await leavesAlone(one)) opened.add(one);
    const callsMax = mostCalls(outMs());
    if (provider.callsInOutage > callsMax) {
      violations.push(
        `${provider.callsInOutage} calls in ${Math.round(outMs())} ms, at most ${callsMax} were to be`,
      );
      break;
    }
    if (outMs() >= rounds * 1_000 && opened.size === workers) break;
    if (outMs() >= rounds * 1_000 + noticeMs) {
      violations.push(`${workers - opened.size} processes never left the provider alone`);
      break;
    }
    await wait(50);
  }
  const seconds = Math.round(outMs() / 1_000);
  const waiting = await unfinished(environment);
  if (waiting === 0) violations.push('no execution waits for the provider when it recovers');
  provider.back();
  const backAt = performance.now();
  await Promise.all([first.done, more.stop()]);
  if (!(await allEnded(environment.db, endMs))) violations.push('not all executions ended');
  // Each process probes with one call, and each answer makes room for one more.
  if (provider.crowdSince > workers) {
    violations.push(`${provider.crowdSince} calls at once for which no answer had made room`);
  }
  const ends = await sql<{ end: string; n: number }>`
    select coalesce(error_code, status::text) as end, count(*) as n from executions group by 1`.execute(
    environment.db,
  );
  const accepted = [...first.accepted(), ...more.accepted()];
  violations.push(...(await checkTables(environment.db, { accepted })));
  return {
    counts: {
      'seconds of outage': seconds,
      'calls meanwhile': provider.callsInOutage,
      'executions waiting at the recovery': waiting,
      executions: accepted.length,
      ...Object.fromEntries(ends.rows.map(({ end, n }) => [`ended: ${end}`, n])),
    },
    samplesMs: { 'until all had ended': [performance.now() - backAt] },
    violations,
  };
}

/**
 * The most calls that all processes may make in an outage of that length, whatever waits: what goes until ten have failed,
 * then the probes, with pauses as short as they can be.
 */
function mostCalls(outMs: number): number {
  let probes = 0;
  for (let atMs = 500, pauseMs = 1_000; atMs <= outMs; pauseMs *= 2) {
    probes++;
    atMs += Math.min(15_000, pauseMs);
  }
  return workers * (slots + 9 + probes);
}

async function leavesAlone({ url }: CuelineProcess): Promise<boolean> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return /^cueline_provider_circuits_open\{provider="ollama"\} [1-9]/m.test(text);
}

async function unfinished({ db }: ProofEnvironment): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from execution_queue`.execute(db);
  return rows[0]?.n ?? 0;
}
