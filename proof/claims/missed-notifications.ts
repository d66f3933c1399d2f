import { setTimeout as wait } from 'node:timers/promises';
import { allEnded, checkTables } from '../checker.ts';
import type { Claim, Found } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { startLoad } from '../load.ts';
import { startProxy } from '../proxy.ts';
import { checkStartLatency, startLatencies, startLatencySample } from '../start-latency.ts';

/**
 * A round sends calls to an API process, and the worker receives no notification of them. In the first half of the
 * rounds its `LISTEN` fails; in the second half the listening connection loses all packets silently.
 */

const callsPerRound = 5;
/** Heartbeats measure time on machines of any speed: 20 of them take at least four polls. */
const heartbeatsMax = 40;

export const missedNotifications: Claim = {
  name: 'missed-notifications',
  description:
    'A worker without notifications polls and finds the executions that another process accepted',
  rounds: { test: 2, short: 10, full: 100 },
  roundsPerEnvironment: 50,
  faults: [
    {
      name: 'missing-poll',
      description: 'nothing is claimed without a notification',
      file: 'engine/run/claim.ts',
      find: 'pollMs * (0.8 + Math.random() * 0.4),',
      replace: '2 ** 31 - 1,',
    },
    {
      name: 'slow-poll',
      description: 'the queue is polled every four seconds',
      file: 'engine/run/claim.ts',
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
  let heartbeats = 0;
  let listenAllowed = false;
  proxy.onSent = (_link, text) => {
    // Every heartbeat sends the statement name, only the first one its text.
    if (text.includes('worker-renew-lease')) heartbeats++;
    return !listenAllowed && /listen cueline_/.test(text) ? 'before' : null;
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
    if (!listenAllowed && round >= rounds / 2) {
      listenAllowed = true;
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
    const heartbeatsBefore = heartbeats;
    while (provider.calls.length < before + load.sent.length) {
      if (heartbeats - heartbeatsBefore > heartbeatsMax) {
        violations.push(`executions did not start within ${heartbeatsMax} heartbeats`);
        break;
      }
      await wait(5);
    }
    startedMs.push(...startLatencies(provider, load));
  }
  const ended = violations.length > 0 || (await allEnded(db));
  await proxy.close();
  return {
    counts: { accepted: accepted.length, heartbeats },
    samplesMs: startLatencySample(startedMs),
    violations: [
      ...violations,
      ...(ended ? [] : ['not all executions ended']),
      ...(violations.length > 0 ? [] : await checkTables(db, { accepted })),
    ],
  };
}
