import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addEndpoint } from '../../../../harness/endpoints.ts';
import { startService } from '../../../../harness/service.ts';
import { fromId } from '../../../../src/core/id.ts';
import { inTransaction } from '../../../../src/db/database.ts';
import { sql } from '../../../../src/db/sql.ts';
import { deleteOldEvents, writeEvents } from '../../../../src/engine/complete/events.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const pull = await addEndpoint(service, key, { url: null, eventTypes: ['key.revoked'] });

async function read(query = '') {
  const { status, body } = await service.call('GET', `/api/v1/events${query}`, { key });
  assert.equal(status, 200);
  return body.events as { eventId: string; type: string; data: { sequence: number } }[];
}

test('events are read in pages, oldest first, with the same data as sent', async () => {
  for (let n = 0; n < 3; n++) await pull.call('POST', '/test');
  const all = await read();
  assert.deepEqual(
    all.map(({ type, data }) => [type, data]),
    [1, 2, 3].map((sequence) => ['ping', { endpointId: pull.endpointId, sequence }]),
  );
  const [first, second, third] = all;
  assert.deepEqual(await read('?limit=1'), [first]);
  assert.deepEqual(await read(`?after=${first?.eventId}&limit=1`), [second]);
  assert.deepEqual(await read(`?after=${third?.eventId}`), []);
});

test('a reader sees an event that commits late after those that committed before', async () => {
  const { workspaceId } = service;
  const event = (n: number) => ({
    ...{ workspaceId, type: 'key.revoked' as const, atMs: 1_700_000_000_000 + n },
    ...{ subject: null, agentId: null, user: null, data: `{"n":${n}}` },
  });
  const last = (await read()).at(-1)?.eventId;
  const held = Promise.withResolvers<void>();
  const written = Promise.withResolvers<void>();
  const late = inTransaction(service.db, async (trx) => {
    await writeEvents(trx, [event(1)]);
    written.resolve();
    await held.promise;
  });
  await written.promise;
  const next = inTransaction(service.db, (trx) => writeEvents(trx, [event(2)]));
  assert.deepEqual(await read(`?after=${last}`), []);
  held.resolve();
  await Promise.all([late, next]);
  const numbers = (await read(`?after=${last}`)).map(
    ({ data }) => (data as unknown as { n: number }).n,
  );
  assert.deepEqual(numbers, [1, 2]);
});

test('an event whose transaction rolled back is never read', async () => {
  const { workspaceId } = service;
  const before = await read('?limit=100');
  await assert.rejects(
    inTransaction(service.db, async (trx) => {
      await writeEvents(trx, [
        {
          ...{ workspaceId, type: 'key.revoked', atMs: Date.now(), subject: null },
          ...{ agentId: null, user: null, data: '{}' },
        },
      ]);
      throw new Error('undone');
    }),
  );
  assert.deepEqual(await read('?limit=100'), before);
});

test('an endpoint can read only what it subscribes to, and is then not silent', async () => {
  const id = fromId('endpoint', pull.endpointId);
  await sql`update endpoints set last_read_at = 'epoch' where id = ${id}`.execute(service.db);
  const other = await addEndpoint(service, key, { url: null, eventTypes: ['key.expiring'] });
  assert.deepEqual(await read(`?endpointId=${other.endpointId}`), []);
  assert.deepEqual(await read(`?endpointId=${pull.endpointId}`), await read());
  const { rows } = await sql`
    select from endpoints where last_read_at = 'epoch'`.execute(service.db);
  assert.equal(rows.length, 0);
});

test('unknown events and endpoints are not found, and invalid limits refused', async () => {
  const status = async (query: string, as = key) =>
    (await service.call('GET', `/api/v1/events?${query}`, { key: as })).status;
  assert.equal(await status('after=nothing'), 404);
  assert.equal(await status('after=evt_01jd0000000000000000000000'), 404);
  assert.equal(await status('endpointId=nothing'), 404);
  assert.equal(await status('limit=0'), 400);
  assert.equal(await status('limit=101'), 400);
  assert.equal(await status('type=ping'), 400);
  const { workspaceId, ownerId: userId } = await service.workspace();
  const elsewhere = await service.key({ workspaceId, userId });
  const [event] = await read();
  assert.equal(await status(`after=${event?.eventId}`, elsewhere.key), 404);
});

test('nothing is kept while no endpoint subscribes', async () => {
  const { workspaceId, ownerId: userId } = await service.workspace();
  const elsewhere = await service.key({ workspaceId, userId });
  const spare = await service.key({ workspaceId, userId });
  await service.call('POST', `/api/v1/keys/${spare.apiKeyId}/revoke`, { key: elsewhere.key });
  const { body } = await service.call('GET', '/api/v1/events', { key: elsewhere.key });
  assert.deepEqual(body, { events: [] });
});

test('the newest event of a workspace is kept, so that its reader can continue', async () => {
  const { workspaceId, ownerId: userId } = await service.workspace();
  const elsewhere = await service.key({ workspaceId, userId });
  const endpoint = await addEndpoint(service, elsewhere.key, { url: null });
  const write = (atMs: number) => {
    const of = { subject: fromId('endpoint', endpoint.endpointId), agentId: null, user: null };
    const event = { workspaceId, type: 'ping' as const, atMs, ...of, data: '{}' };
    return inTransaction(service.db, (trx) => writeEvents(trx, [event]));
  };
  const events = async (query = '') => {
    const { body } = await service.call('GET', `/api/v1/events${query}`, { key: elsewhere.key });
    return (body.events as { eventId: string }[] | undefined)?.map(({ eventId }) => eventId);
  };
  const old = Date.now() - 31 * 86_400_000;
  await write(old);
  await write(old + 1);
  const [first, second] = (await events()) ?? [];
  await deleteOldEvents(service.db, 1_000);
  assert.deepEqual(await events(), [second]);
  assert.deepEqual(await events(`?after=${second}`), []);
  assert.equal(await events(`?after=${first}`), undefined);
  await write(Date.now());
  const [third] = (await events(`?after=${second}`)) ?? [];
  await deleteOldEvents(service.db, 1_000);
  assert.deepEqual(await events(), [third]);
});
