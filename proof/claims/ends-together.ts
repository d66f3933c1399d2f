import { sql } from 'kysely';
import { addBacklog } from '../backlog.ts';
import { allEnded, checkTables } from '../checker.ts';
import type { Claim } from '../claim.ts';
import type { Ground } from '../ground.ts';
import { startLoad } from '../load.ts';

/**
 * A round is a crowd of runs in one worker, most of which a slow provider answers at one moment and hangs up on a few
 * seconds later, while the others are still under way.
 */

/** The others answer once the provider has hung up on the most, which Node does after five idle seconds. */
const models = { most: 'ollama/after-10000', others: 'ollama/after-20000' };
const leaseMs = 3_000;
/** Of a test, beside which others run. */
const testLeaseMs = 30_000;
const endMs = 300_000;

export const endsTogether: Claim = {
  name: 'ends-together',
  says: 'however many calls of models end together, the worker keeps its lease and no call is made twice',
  rounds: { test: 1, short: 2, full: 10 },
  roundsPerGround: 2,
  faults: [
    {
      name: 'one-dispatcher',
      says: 'one dispatcher has all connections',
      file: 'net/dispatchers.ts',
      find: 'export const dispatcherCallsMax = 200;',
      replace: 'export const dispatcherCallsMax = Number.POSITIVE_INFINITY;',
      rounds: 2,
    },
  ],
  async prove(ground, rounds) {
    const most = rounds === 1 ? 800 : 8_500;
    const others = rounds === 1 ? 200 : 1_000;
    const count = most + others;
    const lease = rounds === 1 ? testLeaseMs : leaseMs;
    const violations: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const before = ground.provider.calls.length;
      const api = await ground.spawn('api');
      await queue(ground, api.url, models.most, most);
      await queue(ground, api.url, models.others, others);
      const slots = String(2 * count);
      const env = { CUELINE_SLOTS: slots, CUELINE_LEASE_MS: String(lease) };
      const worker = await ground.spawn('worker', env);
      if (!(await allEnded(ground.db, endMs))) violations.push('not all runs have ended');
      await Promise.all([worker, api].map((one) => one.kill('SIGTERM')));
      const calls = ground.provider.calls.length - before;
      if (calls !== count) violations.push(`${calls} calls were made for ${count} runs`);
    }
    const { rows } = await sql<{ n: number }>`
      select count(*) as n from executions where status <> 'success' or attempts <> 1`.execute(
      ground.db,
    );
    if (rows[0]?.n !== 0) violations.push(`${rows[0]?.n} runs did not succeed at once`);
    violations.push(...(await checkTables(ground.db, { accepted: [], unknownToo: true })));
    return { counts: { runs: rounds * count }, violations };
  },
};

/** The first is accepted, and the rest put behind it. */
async function queue(ground: Ground, url: string, model: string, count: number): Promise<void> {
  const { key } = await ground.key();
  const load = startLoad({
    ...{ urls: () => [url], key, agents: [await ground.agent({ model })] },
    ...{ clients: 1, callsMax: 1 },
  });
  await load.done;
  await addBacklog(ground.db, load.accepted()[0] ?? '', count - 1);
}
