import { setTimeout as wait } from 'node:timers/promises';
import { allEnded, checkTables } from '../checker.ts';
import type { Claim, Found } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { addEndpoints, allDelivered, checkEvents } from '../event-checks.ts';
import { behaviours, reliable, startEventReceivers } from '../event-receivers.ts';
import { startLoad } from '../load.ts';
import { createProcessPool } from '../process-pool.ts';

/**
 * Workers, which also send events, are killed with `kill -9` under load, while nine endpoints answer 200, 500, 410, 429, 301,
 * never, with a gigabyte, and, now and then, byte by byte or 500.
 */

const workers = 2;
/** With a shorter lease, a survivor could not renew it while new processes use the CPU to start. */
const leaseMsMin = 1_500;
const callsPerRound = 100;

export const events: Claim = {
  name: 'events',
  description:
    'Every event reaches its receivers at least once, one id is one event, and no event reports an end that did not happen',
  rounds: { test: 2, short: 20, full: 200 },
  roundsPerEnvironment: 20,
  faults: [
    {
      name: 'failed-as-delivered',
      description: 'an attempt that fails counts as delivered',
      file: 'features/events/statements/deliveries.ts',
      find: "when g.delivered then 'delivered'",
      replace: "when true then 'delivered'",
    },
    {
      name: 'id-per-attempt',
      description: 'each attempt has an id of its own',
      file: 'features/events/verbs/attempt-delivery.ts',
      find: "id: toId('event', due.id)",
      replace: "id: toId('event', crypto.randomUUID())",
    },
    {
      name: 'endpoints-of-the-dead',
      description: 'the endpoints of a killed worker are not freed',
      file: 'features/events/statements/deliveries.ts',
      find: 'where not exists (select from workers w where w.id = s.worker)`',
      replace: 'where false`',
      // A worker that is killed may hold no endpoint.
      rounds: 6,
    },
  ],
  prove,
};

async function prove(own: ProofEnvironment, rounds: number): Promise<Found> {
  const environment: ProofEnvironment = {
    ...own,
    leaseMs: Math.max(leaseMsMin, own.leaseMs),
    spawn: (role, env, through) =>
      own.spawn(role, { ...env, CUELINE_ALLOWED_HOSTS: '127.0.0.1' }, through),
  };
  const { db, leaseMs, random } = environment;
  const receivers = await startEventReceivers();
  const pool = createProcessPool(environment);
  const [api] = await Promise.all([
    pool.start('api'),
    ...Array.from({ length: workers }, () => pool.start('worker')),
  ]);
  const url = api.process?.url ?? '';
  const { key } = await environment.key();
  await addEndpoints(url, key, receivers, behaviours);
  const agents = [
    await environment.agent({ model: 'ollama/numbered-50' }),
    await environment.agent({ model: 'ollama/numbered-250' }),
  ];
  const load = startLoad({
    ...{ urls: () => [url], key, agents, clients: 6, pauseMs: 20 },
    callsMax: rounds * callsPerRound,
  });
  for (let left = rounds; left > 0; left--) {
    pool.fill('worker', Math.min(workers, left) + 1);
    await wait(leaseMs * (0.5 + random()));
    while (pool.up('worker').length < 2 && pool.failed().length === 0) await wait(5);
    const up = pool.up('worker');
    const victim = up[Math.floor(random() * up.length)];
    if (victim) await pool.kill(victim);
  }
  await load.done;
  await pool.settled();
  const ended = await allEnded(db);
  const delivered = await allDelivered(db, reliable);
  const accepted = load.accepted();
  const violations = [
    ...(ended ? [] : ['not all executions ended']),
    ...(delivered ? [] : ['not every event was delivered to the receivers that answer 200']),
    ...(await checkEvents(db, receivers.arrivals, reliable)),
    ...(await checkTables(db, { accepted })),
    ...pool.failed(),
  ];
  await receivers.close();
  const attempts = receivers.arrivals.length;
  return { counts: { kills: rounds, executions: accepted.length, attempts }, violations };
}
