import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addEndpoint } from '../../../../harness/endpoints.ts';
import { startReceiver, toReceivers } from '../../../../harness/receiver.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService({ config: toReceivers });
after(service.close);
const { key } = await service.key();

test('the log shows the request and each attempt with its answer', async () => {
  const answers = [
    { status: 500, text: '\u0000 broken' },
    { status: 302, text: 'elsewhere' },
    { status: 200, text: 'é'.repeat(2_000) },
  ];
  const receiver = await startReceiver((_, response) => {
    const { status = 0, text = '' } = answers[receiver.requests.length - 1] ?? {};
    response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end(text);
  });
  after(receiver.close);
  const endpoint = await addEndpoint(service, key, { url: receiver.url });
  await endpoint.call('POST', '/test');
  const [first] = await receiver.received(1);
  const eventId = String(first?.headers['webhook-id']);
  for (const count of [1, 2]) {
    await receiver.received(count);
    let tried = 0;
    while (tried < count) tried = (await endpoint.deliveries())[0]?.attempts.length ?? 0;
    // Makes it due now instead of in seconds or minutes.
    await sql`update deliveries set due_at = clock_timestamp()`.execute(service.db);
  }
  const delivery = await endpoint.delivered(eventId);
  assert.deepEqual(
    delivery.attempts.map(({ status, answer, error }) => ({ status, answer, error })),
    [
      { status: 500, answer: '\ufffd broken', error: 'The receiver answered 500.' },
      { status: 302, answer: 'elsewhere', error: 'The receiver answered 302.' },
      { status: 200, answer: 'é'.repeat(1_000), error: null },
    ],
  );
  assert.deepEqual(delivery.request, first?.event);
  assert.deepEqual(new Set(receiver.requests.map(({ body }) => body)).size, 1);
  assert.deepEqual([delivery.type, delivery.nextAttemptAt], ['ping', null]);
});

test('filters and the cursor select deliveries, newest first', async () => {
  const receiver = await startReceiver();
  after(receiver.close);
  const endpoint = await addEndpoint(service, key, { url: receiver.url });
  for (let n = 0; n < 5; n++) await endpoint.call('POST', '/test');
  const ids = (await receiver.received(5)).map(({ headers }) => String(headers['webhook-id']));
  for (const id of ids) await endpoint.delivered(id);
  const newest = ids.toSorted().reverse();
  const listed = async (query: string) =>
    (await endpoint.deliveries(query)).map(({ eventId }) => eventId);
  assert.deepEqual(await listed(''), newest);
  const { nextCursor, deliveries } = await endpoint.call('GET', '/deliveries?limit=3');
  assert.equal(deliveries.length, 3);
  assert.deepEqual(await listed(`?cursor=${nextCursor}`), newest.slice(3));
  assert.deepEqual(await listed('?state=failed'), []);
  assert.deepEqual(await listed('?state=delivered&type=ping'), newest);
  assert.deepEqual(await listed('?type=key.revoked'), []);
  assert.deepEqual(await listed('?startDate=2120-01-01'), []);
  assert.deepEqual(await listed('?endDate=2020-01-01'), []);
});

test('invalid parameters are named', async () => {
  const { path } = await addEndpoint(service, key, { url: 'https://shop.example/' });
  for (const query of [
    'state=lost',
    'type=key',
    'cursor=1',
    'startDate=soon',
    'limit=101',
    'page=2',
  ]) {
    const { status, body } = await service.call('GET', `${path}/deliveries?${query}`, { key });
    assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST'], query);
    assert.match(body.message, new RegExp(query.split('=')[0] ?? ''));
  }
});

test('a key with `own` sees answers of receivers only with `read`', async () => {
  const receiver = await startReceiver((_, response) => {
    response.writeHead(500).end('what the receiver says');
  });
  after(receiver.close);
  const endpoint = await addEndpoint(service, key, { url: receiver.url });
  await endpoint.call('POST', '/test');
  while (((await endpoint.deliveries())[0]?.attempts.length ?? 0) === 0);
  const own = await service.key({ permissions: ['own'] });
  const both = await service.key({ permissions: ['own', 'read'] });
  const attemptOf = async (caller: { key: string } | { user: string }) => {
    const { body } = await service.call('GET', `${endpoint.path}/deliveries`, caller);
    const { status, answer, error } = body.deliveries[0].attempts[0];
    return { status, answer, error };
  };
  const failed = { status: 500, error: 'The receiver answered 500.' };
  assert.deepEqual(await attemptOf(own), { ...failed, answer: null });
  for (const caller of [both, { user: service.ownerId }]) {
    assert.deepEqual(await attemptOf(caller), { ...failed, answer: 'what the receiver says' });
  }
});
