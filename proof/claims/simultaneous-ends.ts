import { sql } from '../../src/db/sql.ts';
import { addBacklog } from '../backlog.ts';
import { allEnded, checkTables } from '../checker.ts';
import type { Claim } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { startLoad } from '../load.ts';

/**
 * A round executes thousands of concurrent model calls in one worker. The provider responds to most of them at the same
 * moment and closes their connections a few seconds later, while the others are still in flight.
 */

/** The others end after the provider has closed the idle connections, which Node does after five seconds. */
const models = { most: 'ollama/after-10000', others: 'ollama/after-20000' };
const leaseMs = 3_000;
/** Longer, because other tests run concurrently. */
const testLeaseMs = 30_000;

export const simultaneousEnds: Claim = {
  name: 'simultaneous-ends',
  description:
    'However many model calls end at once, the worker keeps its lease and makes each call once',
  rounds: { test: 1, short: 2, full: 10 },
  roundsPerEnvironment: 2,
  faults: [
    {
      name: 'single-dispatcher',
      description: 'one dispatcher owns all connections',
      file: 'net/dispatchers.ts',
      find: 'export const dispatcherCallsMax = 200;',
      replace: 'export const dispatcherCallsMax = Number.POSITIVE_INFINITY;',
      rounds: 2,
    },
  ],
  async prove(environment, rounds) {
    const most = rounds === 1 ? 800 : 8_500;
    const others = rounds === 1 ? 200 : 1_000;
    const count = most + others;
    const lease = rounds === 1 ? testLeaseMs : leaseMs;
    const violations: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const before = environment.provider.calls.length;
      const api = await environment.spawn('api');
      await queue(environment, api.url, models.most, most);
      await queue(environment, api.url, models.others, others);
      const slots = String(2 * count);
      const env = { CUELINE_SLOTS: slots, CUELINE_LEASE_MS: String(lease) };
      const worker = await environment.spawn('worker', env);
      if (!(await allEnded(environment.db))) violations.push('not all executions ended');
      await Promise.all([worker, api].map((one) => one.kill('SIGTERM')));
      const calls = environment.provider.calls.length - before;
      if (calls !== count) violations.push(`${calls} model calls for ${count} executions`);
    }
    const { rows } = await sql<{ n: number }>`
      select count(*) as n from executions where status <> 'success' or attempts <> 1`.execute(
      environment.db,
    );
    if (rows[0]?.n !== 0) violations.push(`${rows[0]?.n} executions did not succeed at attempt 1`);
    violations.push(...(await checkTables(environment.db, { accepted: [], allowUnknown: true })));
    return { counts: { executions: rounds * count }, violations };
  },
};

/** The API accepts the first one; the others are copies of it. */
async function queue(
  environment: ProofEnvironment,
  url: string,
  model: string,
  count: number,
): Promise<void> {
  const { key } = await environment.key();
  const load = startLoad({
    ...{ urls: () => [url], key, agents: [await environment.agent({ model })] },
    ...{ clients: 1, callsMax: 1 },
  });
  await load.done;
  await addBacklog(environment.db, load.accepted()[0] ?? '', count - 1);
}
