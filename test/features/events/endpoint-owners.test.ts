import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addEndpoint } from '../../../harness/endpoints.ts';
import { startReceiver, toReceivers } from '../../../harness/receiver.ts';
import { startService } from '../../../harness/service.ts';
import { fromId, toId } from '../../../src/core/id.ts';
import { sql } from '../../../src/db/sql.ts';
import { writeEvents } from '../../../src/engine/complete/events.ts';
import { maintainEndpoints } from '../../../src/features/events/verbs/maintain-endpoints.ts';

const service = await startService({ config: toReceivers });
after(service.close);
const { key } = await service.key();
const types = ['key.expiring'];

/** Writes an event of the type that the endpoints of these tests subscribe to. */
function write() {
  const { workspaceId } = service;
  const of = { subject: null, agentId: null, user: null, data: '{}' };
  const event = { workspaceId, type: 'key.expiring' as const, atMs: Date.now(), ...of };
  return service.db.transaction((trx) => writeEvents(trx, [event]));
}

test('an endpoint gets nothing once the key that created it is revoked', async () => {
  const receiver = await startReceiver();
  after(receiver.close);
  const other = await service.key();
  const endpoint = await addEndpoint(service, other.key, { url: receiver.url, eventTypes: types });
  await write();
  const [request] = await receiver.received(1);
  await endpoint.delivered(String(request?.headers['webhook-id']));
  await service.call('POST', `/api/v1/keys/${other.apiKeyId}/revoke`, { key });
  await write();
  const { body } = await service.call('GET', endpoint.path, { key });
  assert.deepEqual([body.pending, body.enabled], [0, true]);
  await maintainEndpoints(service.db);
  const later = await service.call('GET', endpoint.path, { key });
  assert.deepEqual([later.body.enabled, later.body.disabledBecause], [false, 'key_ended']);
});

test('an endpoint whose key has ended belongs to the caller who enables it', async () => {
  const receiver = await startReceiver();
  after(receiver.close);
  const other = await service.key();
  const endpoint = await addEndpoint(service, other.key, { url: receiver.url, eventTypes: types });
  await endpoint.call('PATCH', '', { payload: 'full' });
  await service.call('POST', `/api/v1/keys/${other.apiKeyId}/revoke`, { key });
  await maintainEndpoints(service.db);
  const enable = (credential: string) =>
    service.call('PATCH', endpoint.path, { key: credential, body: { enabled: true } });
  const thin = await service.key({ permissions: ['own'] });
  assert.equal((await enable(thin.key)).status, 403);
  const second = await service.key();
  const { body } = await enable(second.key);
  assert.deepEqual([body.enabled, body.apiKeyId], [true, second.apiKeyId]);
  await maintainEndpoints(service.db);
  await write();
  await receiver.received(1);
});

test('an endpoint gets nothing once the issuer of its key is no owner', async () => {
  const userId = await service.member('owner');
  const other = await service.key({ userId });
  const endpoint = await addEndpoint(service, other.key, {
    url: 'https://shop.example/',
    eventTypes: types,
  });
  const member = `/api/v1/members/${toId('user', userId)}`;
  assert.equal(
    (await service.call('PATCH', member, { key, body: { role: 'editor' } })).status,
    200,
  );
  await write();
  assert.equal((await service.call('GET', endpoint.path, { key })).body.pending, 0);
});

test('the endpoints of a removed owner belong to the workspace', async () => {
  const receiver = await startReceiver();
  after(receiver.close);
  const userId = await service.member('owner');
  const other = await service.key({ userId });
  const endpoint = await addEndpoint(service, other.key, { url: receiver.url, eventTypes: types });
  const member = `/api/v1/members/${toId('user', userId)}`;
  assert.equal((await service.call('DELETE', member, { key })).status, 204);
  const { body } = await service.call('GET', endpoint.path, { key });
  assert.deepEqual([body.createdBy, body.apiKeyId, body.enabled], [null, null, true]);
  await write();
  await receiver.received(1);
});

test('an endpoint whose key has ended gets nothing when its issuer is removed, and is enabled by an owner at once', async () => {
  const userId = await service.member('owner');
  const other = await service.key({ userId });
  const endpoint = await addEndpoint(service, other.key, {
    url: 'https://shop.example/',
    eventTypes: types,
  });
  await write();
  await service.call('POST', `/api/v1/keys/${other.apiKeyId}/revoke`, { key });
  const member = `/api/v1/members/${toId('user', userId)}`;
  assert.equal((await service.call('DELETE', member, { key })).status, 204);
  await write();
  const silent = (await service.call('GET', endpoint.path, { key })).body;
  assert.deepEqual([silent.pending, silent.createdBy], [1, null]);
  // Before the next round has disabled it.
  const { body } = await service.call('PATCH', endpoint.path, { key, body: { enabled: true } });
  assert.notEqual(body.apiKeyId, other.apiKeyId);
  assert.equal(body.pending, 0);
  await write();
  assert.equal((await service.call('GET', endpoint.path, { key })).body.pending, 1);
});

test('the endpoints that a demoted owner created in a session belong to the workspace', async () => {
  const userId = await service.member('owner');
  const { status, body } = await service.call('POST', '/api/v1/endpoints', {
    ...{ user: userId, body: { url: 'https://shop.example/', eventTypes: types } },
  });
  assert.equal(status, 201);
  const member = `/api/v1/members/${toId('user', userId)}`;
  await service.call('PATCH', member, { key, body: { role: 'viewer' } });
  const path = `/api/v1/endpoints/${body.endpointId}`;
  const later = await service.call('GET', path, { key });
  assert.deepEqual([later.body.createdBy, later.body.enabled], [null, true]);
});

test('the endpoints of a rotated key follow its successor', async () => {
  const other = await service.key();
  const endpoint = await addEndpoint(service, other.key, {
    url: 'https://shop.example/',
    eventTypes: types,
  });
  const { body: successor } = await service.call('POST', `/api/v1/keys/${other.apiKeyId}/rotate`, {
    ...{ key: other.key, body: { graceSeconds: 0 } },
  });
  const { body } = await service.call('GET', endpoint.path, { key });
  assert.equal(body.apiKeyId, successor.apiKeyId);
  await write();
  const later = await service.call('GET', endpoint.path, { key });
  assert.equal(later.body.pending, 1);
});

test('a pull endpoint that nobody reads for ten minutes is deleted', async () => {
  const silent = await addEndpoint(service, key, { url: null, eventTypes: types });
  const read = await addEndpoint(service, key, { url: null, eventTypes: types });
  const push = await addEndpoint(service, key, { url: 'https://shop.example/', eventTypes: types });
  const id = fromId('endpoint', read.endpointId);
  await sql`
    update endpoints set last_read_at = clock_timestamp() - interval '11 minutes'
    where id <> ${id}`.execute(service.db);
  await maintainEndpoints(service.db);
  const found = async ({ path }: { path: string }) =>
    (await service.call('GET', path, { key })).status;
  assert.deepEqual([await found(silent), await found(read), await found(push)], [404, 200, 200]);
});
