import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addEndpoint, missedEvent } from '../../../../harness/endpoints.ts';
import { startReceiver, status, toReceivers } from '../../../../harness/receiver.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService({ config: toReceivers });
after(service.close);
const { key } = await service.key();
const always = { startDate: '2020-01-01', endDate: '2120-01-01' };

test('the events of a time are sent again, in one state or in all', async () => {
  const receiver = await startReceiver();
  after(receiver.close);
  const endpoint = await addEndpoint(service, key, { url: receiver.url });
  const ids: string[] = [];
  for (const [index, code] of [200, 410].entries()) {
    receiver.answer = status(code);
    await endpoint.call('POST', '/test');
    const request = (await receiver.received(index + 1)).at(-1);
    ids.push(String(request?.headers['webhook-id']));
    await endpoint.delivered(String(ids.at(-1)), code === 200 ? 'delivered' : 'failed');
  }
  receiver.answer = status(200);
  let { enabled } = await endpoint.call('GET');
  while (enabled) enabled = (await endpoint.call('GET')).enabled;
  await endpoint.call('PATCH', '', { enabled: true });
  const past = { startDate: '2020-01-01', endDate: '2020-01-02' };
  assert.deepEqual(await endpoint.call('POST', '/replay', past), { replayed: 0 });
  const failed = { ...always, state: 'failed' };
  assert.deepEqual(await endpoint.call('POST', '/replay', failed), { replayed: 1 });
  await endpoint.delivered(String(ids[1]));
  assert.deepEqual(await endpoint.call('POST', '/replay', always), { replayed: 2 });
  const sent = (await receiver.received(5)).slice(3).map(({ headers }) => headers['webhook-id']);
  assert.deepEqual(sent.toSorted(), ids.toSorted());
});

test('deliveries that wait for their next attempt are sent at once', async () => {
  const receiver = await startReceiver(status(500));
  after(receiver.close);
  const { endpoint, eventId } = await missedEvent(service, key, receiver);
  receiver.answer = status(200);
  const pending = { ...always, state: 'pending' };
  assert.deepEqual(await endpoint.call('POST', '/replay', pending), { replayed: 1 });
  await endpoint.delivered(eventId);
});

test('reversed, missing and invalid dates are named', async () => {
  const { path } = await addEndpoint(service, key, { url: 'https://shop.example/' });
  const bodies = [
    { startDate: '2026-11-22', endDate: '2026-11-21' },
    { startDate: 'soon', endDate: '2026-11-21' },
    { startDate: '2026-11-21' },
    { ...always, state: 'lost' },
  ];
  for (const body of bodies) {
    const { status: answered, body: problem } = await service.call('POST', `${path}/replay`, {
      ...{ key, body },
    });
    assert.equal(answered, 400);
    assert.match(problem.message, /^Field "(startDate|endDate|state)"/);
  }
});
