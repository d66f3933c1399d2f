import { setTimeout as wait } from 'node:timers/promises';
import { allEnded, checkTables } from '../checker.ts';
import type { Claim, Found } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { startLoad } from '../load.ts';
import { startProxy } from '../proxy.ts';
import { checkOutputs, noteCalls, overlapping } from '../two-workers.ts';
import { until } from '../until.ts';

/** A round cuts one of two workers off from the database for a while: packets vanish, and nobody is told. */

/** With the lease as it is shipped, for a minute; else until the other worker has ended all runs. */
const shippedLeaseMs = 6_000;
const cutLeases = 10;
/** A third of it lies between the abort of the calls and the end of the lease, on a busy machine as well. */
const leaseMsMin = 5_000;
/** Calls that the worker has begun when it is cut off. */
const unanswered = 4;
const patienceMs = 60_000;

export const workerPartitioned: Claim = {
  name: 'worker-partitioned',
  description:
    'A worker cut off from the database aborts its calls before another takes them over, and writes nothing late',
  rounds: { test: 1, short: 3, full: 10 },
  roundsPerEnvironment: 1,
  defaultLease: true,
  faults: [
    {
      name: 'missing-abort',
      description: 'a partitioned worker does not abort its calls',
      file: 'worker/lease.ts',
      find: 'deps.onSilence();',
      replace: '',
    },
  ],
  prove,
};

async function prove(environment: ProofEnvironment): Promise<Found> {
  const { db, provider } = environment;
  const leaseMs = Math.max(leaseMsMin, environment.leaseMs);
  const proxy = await startProxy(environment.connection);
  const base = new URL(provider.url);
  const env = (name: string) => ({
    CUELINE_LEASE_MS: String(leaseMs),
    // The provider knows by the path who calls.
    OLLAMA_BASE_URL: `${base.origin}/${name}${base.pathname}`,
  });
  const [api, victim] = await Promise.all([
    environment.spawn('api', env('api')),
    environment.spawn('worker', env('victim'), proxy.connection),
  ]);
  const { key } = await environment.key();
  // Some are answered while the worker is cut off and still hopes.
  const agents = [
    await environment.agent({ model: `ollama/numbered-${Math.round(0.4 * leaseMs)}` }),
  ];
  const clients = { urls: () => [api.url], key, agents, clients: unanswered };
  const calls = noteCalls(provider, '/victim/', unanswered);
  const violations: string[] = [];

  // While it is alone it begins calls that end only when they are given up.
  provider.script(...Array<'hang'>(unanswered).fill('hang'));
  const first = startLoad({ ...clients, callsMax: unanswered, named: 'first' });
  await Promise.all([first.done, provider.arrived(unanswered)]);
  await environment.spawn('worker', env('other'));
  const before = startLoad({ ...clients, pauseMs: leaseMs / 20, named: 'before' });
  await until(() => calls.underWay().filter((call) => call.victim).length > unanswered);
  proxy.silence();
  const silentMs = performance.now();
  await before.stop();
  if (!(await allEnded(db, patienceMs + cutLeases * leaseMs))) {
    violations.push('another worker did not end the executions of the partitioned one');
  }
  if (leaseMs >= shippedLeaseMs) {
    await wait(Math.max(0, silentMs + cutLeases * leaseMs - performance.now()));
  }
  const healMs = performance.now();
  violations.push(...calls.begunByVictim(silentMs + leaseMs, healMs));
  proxy.heal();
  const after = startLoad({ ...clients, pauseMs: leaseMs / 20, named: 'after' });
  if (!(await until(() => calls.begunByVictim(healMs).length > 0))) {
    violations.push('a worker that was cut off did not work again');
  }
  await after.stop();
  if (!(await allEnded(db, patienceMs))) violations.push('not all executions ended');
  if (victim.child.exitCode !== null) violations.push('a worker that was cut off has exited');
  await proxy.close();
  const all = calls.stop();
  const leaseEndMs = silentMs + leaseMs;
  const outlived = ({ victim: mine, atMs, hungUpMs, doneMs }: (typeof all)[number]) =>
    mine && atMs < silentMs && Math.min(hungUpMs ?? Infinity, doneMs ?? Infinity) > leaseEndMs;
  const accepted = [first, before, after].flatMap((load) => load.accepted());
  return {
    counts: {
      cuts: 1,
      accepted: accepted.length,
      'model calls': all.length,
      'calls aborted': all.filter(({ hungUpMs }) => hungUpMs !== null).length,
    },
    violations: [
      ...violations,
      ...overlapping(all),
      ...all.filter(outlived).map(() => 'a call was not given up before the lease ended'),
      ...(await checkOutputs(db, all)),
      ...(await checkTables(db, { accepted })),
    ],
  };
}
