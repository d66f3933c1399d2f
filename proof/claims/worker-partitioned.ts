import { setTimeout as wait } from 'node:timers/promises';
import { allEnded, checkTables } from '../checker.ts';
import type { Claim, Found } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { startLoad } from '../load.ts';
import { startProxy } from '../proxy.ts';
import { checkOutputs, observeCalls, overlapping } from '../two-workers.ts';
import { until } from '../until.ts';

/** A round partitions one of two workers from the database: all packets are lost silently. */

/** With the default lease the partition lasts ten leases; otherwise until the other worker has ended all executions. */
const defaultLeaseMs = 6_000;
const partitionLeases = 10;
/** A third of it is between the abort of the calls and the end of the lease, which must suffice on a busy machine. */
const leaseMsMin = 5_000;
/** Calls without a response that the worker has started before the partition. */
const unanswered = 4;

export const workerPartitioned: Claim = {
  name: 'worker-partitioned',
  description:
    'A partitioned worker aborts its calls before another worker takes over, and writes nothing late',
  rounds: { test: 1, short: 3, full: 10 },
  roundsPerEnvironment: 1,
  defaultLease: true,
  faults: [
    {
      name: 'missing-abort',
      description: 'a partitioned worker does not abort its calls',
      file: 'engine/run/lease.ts',
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
    // The path identifies the caller.
    OLLAMA_BASE_URL: `${base.origin}/${name}${base.pathname}`,
  });
  const [api, victim] = await Promise.all([
    environment.spawn('api', env('api')),
    environment.spawn('worker', env('victim'), proxy.connection),
  ]);
  const { key } = await environment.key();
  // Some responses arrive during the partition, before the worker aborts its calls.
  const agents = [
    await environment.agent({ model: `ollama/numbered-${Math.round(0.4 * leaseMs)}` }),
  ];
  const clients = { urls: () => [api.url], key, agents, clients: unanswered };
  const calls = observeCalls(provider, '/victim/', unanswered);
  const violations: string[] = [];

  // As the only worker, the victim starts calls that end only by an abort.
  provider.script(...Array<'hang'>(unanswered).fill('hang'));
  const first = startLoad({ ...clients, callsMax: unanswered, named: 'first' });
  await Promise.all([first.done, provider.arrived(unanswered)]);
  await environment.spawn('worker', env('other'));
  const before = startLoad({ ...clients, pauseMs: leaseMs / 20, named: 'before' });
  await until(() => calls.inFlight().filter((call) => call.victim).length > unanswered);
  proxy.silence();
  const silentMs = performance.now();
  await before.stop();
  if (!(await allEnded(db))) {
    violations.push('another worker did not end the executions of the partitioned one');
  }
  if (leaseMs >= defaultLeaseMs) {
    await wait(Math.max(0, silentMs + partitionLeases * leaseMs - performance.now()));
  }
  const healMs = performance.now();
  violations.push(...calls.startedByVictim(silentMs + leaseMs, healMs));
  proxy.heal();
  const after = startLoad({ ...clients, pauseMs: leaseMs / 20, named: 'after' });
  if (!(await until(() => calls.startedByVictim(healMs).length > 0))) {
    violations.push('the partitioned worker did not resume work');
  }
  await after.stop();
  if (!(await allEnded(db))) violations.push('not all executions ended');
  if (victim.child.exitCode !== null) violations.push('the partitioned worker exited');
  await proxy.close();
  const all = calls.stop();
  const leaseEndMs = silentMs + leaseMs;
  const outlived = ({ victim: mine, atMs, hungUpMs, doneMs }: (typeof all)[number]) =>
    mine && atMs < silentMs && Math.min(hungUpMs ?? Infinity, doneMs ?? Infinity) > leaseEndMs;
  const accepted = [first, before, after].flatMap((load) => load.accepted());
  return {
    counts: {
      partitions: 1,
      accepted: accepted.length,
      'model calls': all.length,
      'aborted calls': all.filter(({ hungUpMs }) => hungUpMs !== null).length,
    },
    violations: [
      ...violations,
      ...overlapping(all),
      ...all.filter(outlived).map(() => 'a call was not aborted before the end of the lease'),
      ...(await checkOutputs(db, all)),
      ...(await checkTables(db, { accepted })),
    ],
  };
}
