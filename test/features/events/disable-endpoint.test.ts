import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addEndpoint, type TestEndpoint } from '../../../harness/endpoints.ts';
import { startService } from '../../../harness/service.ts';
import { fromId } from '../../../src/core/id.ts';
import { sql } from '../../../src/db/sql.ts';
import { runAll } from '../../../src/engine/transaction/paced-transactions.ts';
import { countEndpointStates } from '../../../src/features/events/statements/endpoints.ts';
import { maintainEndpoints } from '../../../src/features/events/verbs/maintain-endpoints.ts';
import { maintenanceJobs } from '../../../src/process/background-jobs.ts';

/** An endpoint that has been dead for long has many pending deliveries. No transaction changes all of them. */

// Without a worker: nothing is sent, and maintenance runs only when a test does it.
const service = await startService({ role: 'api' });
after(service.close);
const { key } = await service.key();
const { db } = service;

async function withPending(count: number): Promise<TestEndpoint> {
  const endpoint = await addEndpoint(service, key, { url: 'https://shop.example/events' });
  await sql`
    insert into deliveries (endpoint_id, event_id, type, due_at)
    select ${fromId('endpoint', endpoint.endpointId)}, id_floor(clock_timestamp() + n * interval '1 millisecond'),
      'ping', clock_timestamp()
    from generate_series(1, ${count}::int) as n`.execute(db);
  return endpoint;
}

/** How many deliveries are in each state, and the most that one transaction wrote. */
async function written({ endpointId }: TestEndpoint) {
  const { rows } = await sql<{ state: string; count: number; most: number }>`
    select state, sum(n)::int as count, max(n)::int as most from (
      select state, count(*) as n from deliveries where endpoint_id = ${fromId('endpoint', endpointId)}
      group by state, xmin::text) as transactions
    group by state order by state`.execute(db);
  return rows;
}

test('pending deliveries of a disabled endpoint fail in steps, but none is counted', async () => {
  const endpoint = await withPending(2_500);
  assert.equal((await countEndpointStates(db)).pending, 2_500);
  const { pending } = await endpoint.call('PATCH', '', { enabled: false });
  assert.deepEqual([pending, (await countEndpointStates(db)).pending], [0, 0]);
  assert.deepEqual(
    (await written(endpoint)).map(({ state, count }) => [state, count]),
    [
      ['failed', 1_000],
      ['pending', 1_500],
    ],
  );
  await maintainEndpoints(db);
  assert.deepEqual(await written(endpoint), [{ state: 'failed', count: 2_500, most: 1_000 }]);
});

test('an endpoint that is enabled at once sends nothing that was pending', async () => {
  const endpoint = await withPending(2_500);
  await endpoint.call('PATCH', '', { enabled: false });
  assert.equal((await endpoint.call('PATCH', '', { enabled: true })).pending, 0);
  assert.deepEqual(await written(endpoint), [{ state: 'failed', count: 2_500, most: 1_000 }]);
});

test('maintenance deletes what a deleted endpoint leaves, and old deliveries', async () => {
  const kept = await withPending(2);
  const deleted = await withPending(2_500);
  await sql`
    insert into deliveries (endpoint_id, event_id, type, due_at)
    select ${fromId('endpoint', kept.endpointId)}, id_floor(clock_timestamp() - interval '31 days'), 'ping',
      clock_timestamp()`.execute(db);
  await deleted.call('DELETE');
  assert.equal((await countEndpointStates(db)).pending, 3);
  assert.equal((await written(deleted))[0]?.count, 2_500);
  await runAll(maintenanceJobs(db));
  assert.deepEqual(await written(deleted), []);
  assert.equal((await written(kept))[0]?.count, 2);
});
