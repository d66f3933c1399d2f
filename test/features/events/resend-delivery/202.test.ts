import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addEndpoint, missedEvent } from '../../../../harness/endpoints.ts';
import { startReceiver, status, toReceivers } from '../../../../harness/receiver.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService({ config: toReceivers });
after(service.close);
const { key } = await service.key();

test('a delivered event is sent again under the same id', async () => {
  const receiver = await startReceiver();
  after(receiver.close);
  const endpoint = await addEndpoint(service, key, { url: receiver.url });
  await endpoint.call('POST', '/test');
  const [first] = await receiver.received(1);
  const eventId = String(first?.headers['webhook-id']);
  await endpoint.delivered(eventId);
  const resent = await endpoint.call('POST', `/deliveries/${eventId}/resend`);
  assert.deepEqual(resent, { eventId });
  const [, second] = await receiver.received(2);
  assert.deepEqual([second?.headers['webhook-id'], second?.body], [eventId, first?.body]);
  let attempts = 0;
  while (attempts < 2) attempts = (await endpoint.delivered(eventId)).attempts.length;
});

test('a delivery that waits for its next attempt is sent at once', async () => {
  const receiver = await startReceiver(status(500));
  after(receiver.close);
  const { endpoint, eventId } = await missedEvent(service, key, receiver);
  receiver.answer = status(200);
  await endpoint.call('POST', `/deliveries/${eventId}/resend`);
  await endpoint.delivered(eventId);
});

test('an unknown delivery is not found', async () => {
  const { path } = await addEndpoint(service, key, { url: 'https://shop.example/' });
  for (const eventId of ['nothing', 'evt_01jd0000000000000000000000']) {
    const { status } = await service.call('POST', `${path}/deliveries/${eventId}/resend`, { key });
    assert.equal(status, 404);
  }
});
