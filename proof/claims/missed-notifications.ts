import { setTimeout as wait } from 'node:timers/promises';
import { allEnded, checkTables } from '../checker.ts';
import type { Claim, Found } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { startLoad } from '../load.ts';
import { startProxy } from '../proxy.ts';
import { checkStartLatency, startLatencies, startLatencySample } from '../start-latency.ts';

/**
 * A round is some calls to an API process, for a worker that hears no hint of them: in the first half of the rounds its
 * `LISTEN` never gets through, in the second it does, and then the connection falls silent, of which nobody is told.
 */

const callsPerRound = 5;
/** Heartbeats are as many as polls on any machine, however slow: 20 of them take four polls at least. */
const beatsMax = 40;

export const missedNotifications: Claim = {
  name: 'missed-notifications',
  description:
    'A worker that receives no notifications polls and finds what another process has accepted',
  rounds: { test: 2, short: 10, full: 100 },
  roundsPerEnvironment: 50,
  faults: [
    {
      name: 'missing-poll',
      description: 'nothing is claimed without a notification',
      file: 'worker/claim.ts',
      find: 'pollMs * (0.8 + Math.random() * 0.4),',
      replace: '2 ** 31 - 1,',
    },
    {
      name: 'slow-poll',
      description: 'the queue is polled every four seconds',
      file: 'worker/claim.ts',
      find: 'pollMs * (0.8 + Math.random() * 0.4),',
      replace: '4 * pollMs * (0.8 + Math.random() * 0.4),',
      rounds: 6,
      late: true,
    },
  ],
  prove,
  checkGoals: checkStartLatency,
};

async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  const { db, provider } = environment;
  const proxy = await startProxy(environment.connection);
  let beats = 0;
  let through = false;
  proxy.onSent = (_link, text) => {
    // With its name comes every heartbeat, its text only the first.
    if (text.includes('worker-renew-lease')) beats++;
    return !through && /listen cueline_/.test(text) ? 'before' : null;
  };
  const env = { CUELINE_LEASE_MS: String(environment.leaseMs) };
  const [api] = await Promise.all([
    environment.spawn('api', env),
    environment.spawn('worker', env, proxy.connection),
  ]);
  const { key } = await environment.key();
  const agents = [await environment.agent({ model: 'ollama/after-0' })];
  const accepted: string[] = [];
  const startedMs: number[] = [];
  const violations: string[] = [];

  for (let round = 0; round < rounds && violations.length === 0; round++) {
    if (!through && round >= rounds / 2) {
      through = true;
      while (!proxy.listening) await wait(5);
      proxy.mute(({ listens }) => listens);
    }
    const before = provider.calls.length;
    const load = startLoad({
      ...{ urls: () => [api.url], key, agents, named: `round-${round}` },
      ...{ clients: callsPerRound, callsMax: callsPerRound },
    });
    await load.done;
    accepted.push(...load.accepted());
    const beatsBefore = beats;
    while (provider.calls.length < before + load.sent.length) {
      if (beats - beatsBefore > beatsMax) {
        violations.push(`runs were not begun within ${beatsMax} heartbeats of their worker`);
        break;
      }
      await wait(5);
    }
    startedMs.push(...startLatencies(provider, load));
  }
  const ended = violations.length > 0 || (await allEnded(db, 60_000));
  await proxy.close();
  return {
    counts: { accepted: accepted.length, heartbeats: beats },
    samplesMs: startLatencySample(startedMs),
    violations: [
      ...violations,
      ...(ended ? [] : ['not all executions ended']),
      ...(violations.length > 0 ? [] : await checkTables(db, { accepted })),
    ],
  };
}
