import { setTimeout as wait } from 'node:timers/promises';
import type { CuelineProcess } from '../../harness/process.ts';
import { sql } from '../../src/db/sql.ts';
import { allEnded, checkTables } from '../checker.ts';
import type { Claim } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { startLoad } from '../load.ts';
import { metricOf } from '../metric.ts';
import { type OutageProvider, startOutageProvider } from '../outage.ts';

/** A round is a second of one outage, which takes ten minutes in a full proof. */

const workers = 2;
const slots = 8;
/** Executions that wait when the outage starts. Others follow during it. */
const backlog = 60;
const following = { clients: 4, pauseMs: 500 };
/** The time in which each process must open its circuit and end the calls from before. */
const openCircuitMs = 30_000;
/** Long enough that without a ramp-up many calls would be concurrent. */
const answerAfterMs = 400;

export const providerOutage: Claim = {
  name: 'provider-outage',
  description:
    'A failing provider gets few calls however many executions wait; after its recovery calls ramp up, and all executions end',
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

  provider.startOutage();
  const outageAt = performance.now();
  const outageMs = () => performance.now() - outageAt;
  const first = startLoad({ urls, key, agents, clients: 20, callsMax: backlog });
  const more = startLoad({ urls, key, agents, ...following });
  const opened = new Set<CuelineProcess>();
  // A call from before the opening that arrives after the recovery is not part of the ramp-up.
  const settled = new Set<CuelineProcess>();
  for (;;) {
    for (const one of working) {
      if (await isCircuitOpen(one)) opened.add(one);
      if (!opened.has(one)) continue;
      if ((await metricOf(one.url, 'cueline_executions_running')) === 0) settled.add(one);
    }
    const callsMax = callsMaxAfter(outageMs());
    if (provider.callsInOutage > callsMax) {
      violations.push(
        `${provider.callsInOutage} calls in ${Math.round(outageMs())} ms; at most ${callsMax} expected`,
      );
      break;
    }
    if (outageMs() >= rounds * 1_000 && settled.size === workers) break;
    if (outageMs() >= rounds * 1_000 + openCircuitMs) {
      violations.push(
        `${opened.size} of ${workers} processes opened their circuit, ${settled.size} ended the calls from before`,
      );
      break;
    }
    await wait(50);
  }
  const seconds = Math.round(outageMs() / 1_000);
  const waiting = await unfinished(environment);
  if (waiting === 0) violations.push('no execution waited for the provider at its recovery');
  provider.endOutage();
  const recoveredAt = performance.now();
  await Promise.all([first.done, more.stop()]);
  if (!(await allEnded(environment.db))) violations.push('not all executions ended');
  // Each process probes with one call, and each response admits one more.
  if (provider.excessCalls > workers) {
    violations.push(`${provider.excessCalls} concurrent calls beyond the answered ones`);
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
      'calls during the outage': provider.callsInOutage,
      'executions waiting at the recovery': waiting,
      executions: accepted.length,
      ...Object.fromEntries(ends.rows.map(({ end, n }) => [`ended: ${end}`, n])),
    },
    samplesMs: { 'recovery to the end of all executions': [performance.now() - recoveredAt] },
    violations,
  };
}

/**
 * The maximum number of calls of all processes in an outage of that length: calls until ten have failed, then probes with
 * the shortest possible pauses.
 */
function callsMaxAfter(outageMs: number): number {
  let probes = 0;
  for (let atMs = 500, pauseMs = 1_000; atMs <= outageMs; pauseMs *= 2) {
    probes++;
    atMs += Math.min(15_000, pauseMs);
  }
  return workers * (slots + 9 + probes);
}

async function isCircuitOpen({ url }: CuelineProcess): Promise<boolean> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return /^cueline_provider_circuits_open\{provider="ollama"\} [1-9]/m.test(text);
}

async function unfinished({ db }: ProofEnvironment): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from execution_queue`.execute(db);
  return rows[0]?.n ?? 0;
}
