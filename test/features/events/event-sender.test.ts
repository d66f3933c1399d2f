import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { addEndpoint, verified } from '../../../harness/endpoints.ts';
import { startReceiver, status, toReceivers } from '../../../harness/receiver.ts';
import { startService } from '../../../harness/service.ts';
import { fromId } from '../../../src/core/id.ts';
import { sql } from '../../../src/db/sql.ts';
import { claimEndpoints } from '../../../src/features/events/statements/deliveries.ts';

const service = await startService({ config: toReceivers });
after(service.close);
const { key } = await service.key();

test('a healthy endpoint is not delayed by any number of endpoints that never answer', async () => {
  const open = new Map<string, number>();
  const mostOpen = new Map<string, number>();
  const silent = await startReceiver(({ event }, response) => {
    const id = event.data.endpointId;
    const now = (open.get(id) ?? 0) + 1;
    open.set(id, now);
    mostOpen.set(id, Math.max(now, mostOpen.get(id) ?? 0));
    response.once('close', () => open.set(id, (open.get(id) ?? 0) - 1));
  });
  const healthy = await startReceiver();
  const { workspaceId, ownerId: userId } = await service.workspace();
  const other = await service.key({ workspaceId, userId });
  const dead = await Promise.all(
    Array.from({ length: 19 }, () => addEndpoint(service, other.key, { url: silent.url })),
  );
  for (const one of dead) {
    for (let n = 0; n < 12; n++) await one.call('POST', '/test');
  }
  await silent.received(19 * 10);
  const alive = await addEndpoint(service, other.key, { url: healthy.url });
  await alive.call('POST', '/test');
  await healthy.received(1);
  assert.equal(mostOpen.size, dead.length);
  for (const most of mostOpen.values()) assert.ok(most <= 10, `${most} requests at once`);
  for (const one of dead) await one.call('DELETE');
  await alive.call('DELETE');
  await silent.close();
  await healthy.close();
});

test('410 disables an endpoint at once; the others get an event, and the audit log a line', async () => {
  const receiver = await startReceiver(status(410));
  const witness = await startReceiver();
  const endpoint = await addEndpoint(service, key, { url: receiver.url });
  const other = await addEndpoint(service, key, {
    url: witness.url,
    eventTypes: ['endpoint.disabled'],
  });
  await endpoint.call('POST', '/test');
  const [request] = await witness.received(1);
  assert.ok(request);
  const { type, data } = verified(other.secret, request);
  assert.deepEqual(
    [type, data.endpointId, data.reason],
    ['endpoint.disabled', endpoint.endpointId, 'gone'],
  );
  const { enabled, disabledBecause } = await endpoint.call('GET');
  assert.deepEqual([enabled, disabledBecause], [false, 'gone']);
  const audit = await service.call('GET', '/api/v1/audit?action=endpoint.disable', { key });
  assert.equal(audit.body.audit[0].subject, endpoint.endpointId);
  await receiver.close();
  await witness.close();
});

test('outcomes of other endpoints do not wait until an endpoint is disabled', async () => {
  const open: (() => void)[] = [];
  const leaving = await startReceiver((_, response) => {
    open.push(() => response.writeHead(410).end());
  });
  const healthy = await startReceiver();
  const endpoint = await addEndpoint(service, key, { url: leaving.url });
  const other = await addEndpoint(service, key, { url: healthy.url });
  await endpoint.call('POST', '/test');
  const [last] = await leaving.received(1);
  const id = fromId('endpoint', endpoint.endpointId);
  await service.db.transaction(async (trx) => {
    await sql`
      update endpoints set failing_since = clock_timestamp() where id = ${id}`.execute(service.db);
    await sql`select from endpoints where id = ${id} for no key update`.execute(trx);
    open.pop()?.();
    await endpoint.delivered(String(last?.headers['webhook-id']), 'failed');
    await other.call('POST', '/test');
    const [request] = await healthy.received(1);
    await other.delivered(String(request?.headers['webhook-id']));
  });
  let enabled = true;
  while (enabled) enabled = (await endpoint.call('GET')).enabled;
  await leaving.close();
  await healthy.close();
});

test('five days without success disable an endpoint', async () => {
  const receiver = await startReceiver(status(500));
  const endpoint = await addEndpoint(service, key, { url: receiver.url });
  const id = fromId('endpoint', endpoint.endpointId);
  const since = async (days: number) => {
    await sql`
      update endpoints set failing_since = clock_timestamp() - make_interval(days => ${days}, mins => -1)
      where id = ${id}`.execute(service.db);
    await sql`
      update endpoints set failing_since = failing_since - interval '2 minutes'
      where id = ${id} and ${days === 5}`.execute(service.db);
    await sql`update deliveries set due_at = clock_timestamp() where endpoint_id = ${id}`.execute(
      service.db,
    );
  };
  await endpoint.call('POST', '/test');
  await receiver.received(1);
  await since(4);
  await receiver.received(2);
  let attempts = 0;
  while (attempts < 2) attempts = (await endpoint.deliveries())[0]?.attempts.length ?? 0;
  assert.equal((await endpoint.call('GET')).enabled, true);
  await since(5);
  let enabled = true;
  while (enabled) enabled = (await endpoint.call('GET')).enabled;
  assert.equal((await endpoint.call('GET')).disabledBecause, 'failing');
  await receiver.close();
});

test('a failing endpoint gets one request at a time, until it succeeds', async () => {
  const receiver = await startReceiver(status(500));
  const endpoint = await addEndpoint(service, key, { url: receiver.url });
  await endpoint.call('POST', '/test');
  await receiver.received(1);
  while ((await endpoint.call('GET')).failingSince === null);
  const open: (() => void)[] = [];
  receiver.answer = (_, response) => void open.push(() => response.end());
  for (let n = 0; n < 5; n++) await endpoint.call('POST', '/test');
  await receiver.received(2);
  assert.equal(open.length, 1);
  open.pop()?.();
  await receiver.received(6);
  assert.equal(open.length, 4);
  for (const answer of open) answer();
  await receiver.close();
});

test('endpoints of a process that is gone are sent to by another', async () => {
  const receiver = await startReceiver();
  const endpoint = await addEndpoint(service, key, { url: receiver.url });
  const id = fromId('endpoint', endpoint.endpointId);
  const lost = '019a9e3b-7c00-7a52-9e0c-5b1f0c6d2e41';
  await sql`insert into endpoint_senders values (${id}, ${lost})`.execute(service.db);
  await endpoint.call('POST', '/test');
  await receiver.received(1);
  await receiver.close();
});

test('an endpoint that a worker has lost from memory only is claimed again, by that worker alone', async () => {
  const endpoint = await addEndpoint(service, key, { url: 'https://shop.example/' });
  const id = fromId('endpoint', endpoint.endpointId) ?? '';
  const workers = [randomUUID(), randomUUID()];
  const [own = '', other = ''] = workers;
  await service.db.transaction(async (trx) => {
    await sql`
      insert into workers (id, lease_until) select id, clock_timestamp() + interval '1 hour'
      from unnest(${workers}::uuid[]) as id`.execute(trx);
    await sql`
      insert into deliveries (endpoint_id, event_id, type, state, due_at)
      values (${id}, ${randomUUID()}, 'ping', 'pending', clock_timestamp() - interval '1 second')`.execute(
      trx,
    );
    const claim = async (worker: string, claimed: readonly string[] = []) =>
      (await claimEndpoints(trx, worker, { claimed, limit: 100 })).includes(id);
    assert.deepEqual(
      [await claim(own), await claim(own), await claim(own, [id]), await claim(other)],
      [true, true, false, false],
    );
    await sql`delete from endpoint_senders where endpoint_id = ${id}`.execute(trx);
    await sql`delete from deliveries where endpoint_id = ${id}`.execute(trx);
    await sql`delete from workers where id = any(${workers}::uuid[])`.execute(trx);
  });
});
