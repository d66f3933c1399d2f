import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addEndpoint } from '../../../../harness/endpoints.ts';
import { startReceiver, status, toReceivers } from '../../../../harness/receiver.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService({ config: toReceivers });
after(service.close);
const { key } = await service.key();

test('a deleted endpoint and its deliveries are gone', async () => {
  const receiver = await startReceiver(status(503, { 'retry-after': '1' }));
  after(receiver.close);
  const endpoint = await addEndpoint(service, key, { url: receiver.url });
  await endpoint.call('POST', '/test');
  await receiver.received(1);
  assert.equal(await endpoint.call('DELETE').then((body) => body ?? null), null);
  for (const below of ['', '/deliveries']) {
    assert.equal((await service.call('GET', endpoint.path + below, { key })).status, 404);
  }
  assert.equal((await service.call('DELETE', endpoint.path, { key })).status, 404);
  const other = await addEndpoint(service, key, { url: receiver.url });
  await other.call('POST', '/test');
  const [, second] = await receiver.received(2);
  assert.equal(second?.event.data.endpointId, other.endpointId);
});

test('an endpoint of another workspace is unknown', async () => {
  const { workspaceId, ownerId: userId } = await service.workspace();
  const elsewhere = await service.key({ workspaceId, userId });
  const { path } = await addEndpoint(service, key, { url: 'https://shop.example/' });
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    const body = method === 'PATCH' ? { body: {} } : {};
    const { status: answered } = await service.call(method, path, { key: elsewhere.key, ...body });
    assert.equal(answered, 404);
  }
});
