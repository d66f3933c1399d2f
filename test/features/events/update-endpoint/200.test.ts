import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addEndpoint } from '../../../../harness/endpoints.ts';
import { startReceiver, status, toReceivers } from '../../../../harness/receiver.ts';
import { startService } from '../../../../harness/service.ts';
import { fromId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';
import { maintainEndpoints } from '../../../../src/features/events/verbs/maintain-endpoints.ts';

const service = await startService({ config: toReceivers });
after(service.close);
const { key } = await service.key();

test('a PATCH changes only what it names', async () => {
  const endpoint = await addEndpoint(service, key, {
    url: 'https://shop.example/events',
    eventTypes: ['key.revoked'],
    description: 'Shop',
  });
  const before = await endpoint.call('GET');
  const patch = { eventTypes: ['key.revoked', 'key.expiring'], payload: 'full', format: 'slack' };
  assert.deepEqual(await endpoint.call('PATCH', '', patch), { ...before, ...patch });
  assert.deepEqual(await endpoint.call('PATCH', '', {}), { ...before, ...patch });
});

test('a private URL, unknown fields and unknown agents are refused', async () => {
  const { path } = await addEndpoint(service, key, { url: 'https://shop.example/events' });
  const refused = async (body: object) => (await service.call('PATCH', path, { key, body })).status;
  assert.equal(await refused({ url: 'https://10.0.0.1/' }), 400);
  assert.equal(await refused({ url: 'https://localhost/' }), 400);
  assert.equal(await refused({ secret: 'x' }), 400);
  assert.equal(await refused({ agentIds: ['nothing'] }), 404);
});

test('what was pending fails when an endpoint is disabled; enabled again, it can be replayed', async () => {
  const receiver = await startReceiver(status(500));
  const endpoint = await addEndpoint(service, key, { url: receiver.url });
  await endpoint.call('POST', '/test');
  const [request] = await receiver.received(1);
  const eventId = String(request?.headers['webhook-id']);
  await endpoint.delivered(eventId, 'pending');
  const disabled = await endpoint.call('PATCH', '', { enabled: false });
  assert.deepEqual([disabled.enabled, disabled.disabledBecause], [false, 'owner']);
  assert.deepEqual([disabled.pending, typeof disabled.disabledAt], [0, 'string']);
  assert.equal((await endpoint.delivered(eventId, 'failed')).nextAttemptAt, null);
  for (const below of ['/test', `/deliveries/${eventId}/resend`]) {
    assert.equal((await service.call('POST', endpoint.path + below, { key })).status, 409);
  }
  receiver.answer = status(200);
  const enabled = await endpoint.call('PATCH', '', { enabled: true });
  assert.deepEqual([enabled.enabled, enabled.failingSince], [true, null]);
  const range = { startDate: '2020-01-01', endDate: '2120-01-01', state: 'failed' };
  assert.deepEqual(await endpoint.call('POST', '/replay', range), { replayed: 1 });
  const { attempts } = await endpoint.delivered(eventId);
  assert.deepEqual(attempts.at(-1)?.status, 200);
  await receiver.close();
});

test('an old endpoint that becomes a pull endpoint waits for its first reader', async () => {
  const endpoint = await addEndpoint(service, key, { url: 'https://shop.example/events' });
  await sql`
    update endpoints set last_read_at = last_read_at - interval '1 day'
    where id = ${fromId('endpoint', endpoint.endpointId)}`.execute(service.db);
  await endpoint.call('PATCH', '', { url: null });
  await maintainEndpoints(service.db);
  assert.equal((await endpoint.call('GET')).url, null);
});
