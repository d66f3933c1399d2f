import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { during } from '../../../../harness/locks.ts';
import { startService } from '../../../../harness/service.ts';
import { freezeWindows } from '../../../../harness/windows.ts';
import { toId } from '../../../../src/core/id.ts';
import type { Db } from '../../../../src/db/database.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const agent = await addAgent(service);
const user = service.ownerId;
const rotate = (apiKeyId: string, body?: object, options: object = { user }) =>
  service.call('POST', `/api/v1/keys/${apiKeyId}/rotate`, { ...options, ...(body && { body }) });
const execute = async (key: string) => {
  const body = { variables: { name: 'x' } };
  return (await service.call('POST', `${agent.path}/execute`, { key, body })).status;
};

async function expiry(id: string) {
  const { rows } = await sql<{ expiresAt: Date | null; graceSeconds: number | null }>`
    select expires_at, round(extract(epoch from expires_at - clock_timestamp()))::int as grace_seconds
    from api_keys where id = ${id}`.execute(service.db);
  return rows[0];
}

test('the new key has the settings of the old one, which is rejected at once', async () => {
  const expiresAt = new Date('2090-01-02T03:04:05.678Z');
  const old = await service.key({
    ...{ agentIds: [agent.agentId], permissions: ['execute', 'read'], expiresAt },
    rateLimits: { requestsPerMinute: 7, requestsPerHour: null, requestsPerDay: 9 },
    allowedOrigins: ['https://a.example'],
  });
  await freezeWindows(service.db, old.id);
  const before = await service.call('GET', '/api/v1/keys', { user });
  const { status, body } = await rotate(old.apiKeyId);
  assert.equal(status, 201);
  const { key, ...made } = body;
  const { apiKeyId, start, createdAt } = made;
  assert.notEqual(apiKeyId, old.apiKeyId);
  assert.equal(start, key.slice(0, 10));
  assert.deepEqual(made, { ...before.body.keys[0], apiKeyId, start, createdAt });
  assert.deepEqual([await execute(old.key), await execute(key)], [401, 202]);
});

test('with a grace period both keys are valid until it ends by the database clock', async () => {
  const old = await service.key();
  const { body } = await rotate(old.apiKeyId, { graceSeconds: 3_600 });
  assert.deepEqual([await execute(old.key), await execute(body.key)], [202, 202]);
  assert.equal(body.expiresAt, null);
  const grace = (await expiry(old.id))?.graceSeconds ?? 0;
  assert.ok(grace > 0 && grace <= 3_600);
  await sql`update api_keys set expires_at = clock_timestamp() where id = ${old.id}`.execute(
    service.db,
  );
  assert.deepEqual([await execute(old.key), await execute(body.key)], [401, 202]);
});

test('a grace period does not extend the expiry of a key', async () => {
  const expiresAt = new Date('2090-01-01');
  const near = await service.key();
  await sql`update api_keys set expires_at = clock_timestamp() + interval '1 hour'
    where id = ${near.id}`.execute(service.db);
  const before = await expiry(near.id);
  const { body } = await rotate(near.apiKeyId, { graceSeconds: 604_800 });
  assert.deepEqual((await expiry(near.id))?.expiresAt, before?.expiresAt);
  assert.equal(body.expiresAt, before?.expiresAt?.toISOString());
  const far = await service.key({ expiresAt });
  assert.equal(
    (await rotate(far.apiKeyId, { graceSeconds: 60 })).body.expiresAt,
    expiresAt.toISOString(),
  );
});

test('the new key inherits the usage of the old one', async () => {
  const rateLimits = { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: 2 };
  const old = await service.key({ rateLimits });
  await spend(service.db, old.id);
  const { body } = await rotate(old.apiKeyId);
  assert.deepEqual([await execute(body.key), await execute(body.key)], [202, 429]);
});

test('the new key belongs to the caller, and has no more rights than the caller', async () => {
  const editor = await service.member('editor');
  const old = await service.key({ agentIds: [agent.agentId] });
  const { body } = await rotate(old.apiKeyId, {}, { user: editor });
  assert.equal(body.createdBy, toId('user', editor));
  // The old key was an owner's.
  const plan = { name: 'mine', actionsPerMonth: null };
  const { status } = await service.call('PUT', '/api/v1/plan', { key: body.key, body: plan });
  assert.equal(status, 403);
});

test('a limited key can rotate itself', async () => {
  const old = await service.key({
    ...{ agentIds: [agent.agentId], permissions: ['execute', 'manage'] },
    expiresAt: new Date('2090-01-01'),
  });
  const { status, body } = await rotate(old.apiKeyId, undefined, { key: old.key });
  assert.equal(status, 201);
  assert.deepEqual([await execute(old.key), await execute(body.key)], [401, 202]);
});

test('waits for executions that are being admitted, and inherits their usage', async () => {
  const rateLimits = { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: 1 };
  const old = await service.key({ rateLimits });
  const { body } = await during(
    service.db,
    (trx) => spend(trx, old.id),
    () => rotate(old.apiKeyId),
  );
  assert.equal(await execute(body.key), 429);
});

test('one of many concurrent rotations succeeds', async () => {
  const old = await service.key();
  const responses = await Promise.all(Array.from({ length: 12 }, () => rotate(old.apiKeyId)));
  const statuses = responses.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [201, ...Array.from({ length: 11 }, () => 409)]);
});

/** One execution on a future day: a window never goes back, so midnight does not interfere. */
async function spend(db: Db, keyId: string): Promise<void> {
  await sql`update limits set day = 1000000, day_used = 1 where subject = ${keyId}`.execute(db);
}
