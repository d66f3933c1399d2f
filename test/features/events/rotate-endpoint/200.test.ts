import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addEndpoint, verified } from '../../../../harness/endpoints.ts';
import { startReceiver, toReceivers } from '../../../../harness/receiver.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService({ config: toReceivers });
after(service.close);
const receiver = await startReceiver();
after(receiver.close);
const { key } = await service.key();

async function nextRequest(endpoint: Awaited<ReturnType<typeof addEndpoint>>) {
  const count = receiver.requests.length;
  await endpoint.call('POST', '/test');
  const request = (await receiver.received(count + 1)).at(-1);
  assert.ok(request);
  return request;
}

test('both secrets sign during the grace period, then only the new one', async () => {
  const endpoint = await addEndpoint(service, key, { url: receiver.url });
  const { secret } = await endpoint.call('POST', '/rotate', { graceSeconds: 600 });
  assert.notEqual(secret, endpoint.secret);
  const both = await nextRequest(endpoint);
  verified(secret, both);
  verified(endpoint.secret, both);
  await sql`update endpoints set previous_until = clock_timestamp()`.execute(service.db);
  const after = await nextRequest(endpoint);
  verified(secret, after);
  assert.throws(() => verified(endpoint.secret, after));
});

test('without a grace period the old secret ends at once', async () => {
  const endpoint = await addEndpoint(service, key, { url: receiver.url });
  const { secret } = await endpoint.call('POST', '/rotate');
  const request = await nextRequest(endpoint);
  verified(secret, request);
  assert.throws(() => verified(endpoint.secret, request));
});

test('a grace period out of range and an unknown endpoint are refused', async () => {
  const { path } = await addEndpoint(service, key, { url: receiver.url });
  const rotate = async (to: string, graceSeconds: number) =>
    (await service.call('POST', `${to}/rotate`, { key, body: { graceSeconds } })).status;
  assert.equal(await rotate(path, -1), 400);
  assert.equal(await rotate(path, 604_801), 400);
  assert.equal(await rotate('/api/v1/endpoints/nothing', 0), 404);
});
