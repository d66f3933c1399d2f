import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { during } from '../../../../harness/locks.ts';
import { startService } from '../../../../harness/service.ts';
import { freezeWindows } from '../../../../harness/windows.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const agent = await addAgent(service);
const user = service.ownerId;
const revoke = (apiKeyId: string, options: object = { user }) =>
  service.call('POST', `/api/v1/keys/${apiKeyId}/revoke`, options);
const execute = (key: string) =>
  service.call('POST', `${agent.path}/execute`, { key, body: { variables: { name: 'x' } } });

test('a revoked key is rejected everywhere', async () => {
  const { key, apiKeyId } = await service.key();
  assert.equal((await execute(key)).status, 202);
  const { status, body } = await revoke(apiKeyId);
  assert.equal(status, 200);
  assert.equal(body.apiKeyId, apiKeyId);
  assert.match(body.revokedAt, /Z$/);
  for (const response of [
    await execute(key),
    await service.call('GET', `${agent.path}/executions`, { key }),
    await service.call('GET', '/api/v1/keys', { key }),
  ]) {
    assert.equal(response.status, 401);
  }
});

test('revoking is idempotent', async () => {
  const { apiKeyId, id } = await service.key();
  await freezeWindows(service.db, id);
  const first = await revoke(apiKeyId);
  assert.deepEqual((await revoke(apiKeyId)).body, first.body);
});

test('an expired key can be revoked, and a key can revoke itself', async () => {
  const expired = await service.key({ expiresAt: new Date('2020-01-01') });
  assert.notEqual((await revoke(expired.apiKeyId)).body.revokedAt, null);
  const { key, apiKeyId } = await service.key({ permissions: ['manage'] });
  assert.equal((await revoke(apiKeyId, { key })).status, 200);
  assert.equal((await revoke(apiKeyId, { key })).status, 401);
});

test('an editor revokes another member’s key, a limited key one of its agents', async () => {
  const editor = await service.member('editor');
  const other = await service.member('editor');
  const { apiKeyId } = await service.key({ userId: other });
  assert.equal((await revoke(apiKeyId, { user: editor })).status, 200);
  const tie = { agentIds: [agent.agentId] };
  const [tied, like] = [await service.key(tie), await service.key(tie)];
  assert.equal((await revoke(like.apiKeyId, { key: tied.key })).status, 200);
  assert.equal((await execute(tied.key)).status, 202);
});

test('waits for executions that are being admitted', async () => {
  const { key, id, apiKeyId } = await service.key();
  const { body } = await during(
    service.db,
    (trx) => sql`select from limits where subject = ${id} for update`.execute(trx),
    () => revoke(apiKeyId),
  );
  assert.notEqual(body.revokedAt, null);
  assert.equal((await execute(key)).status, 401);
});

test('no request after the response is accepted in any process', async () => {
  const second = await startService({ sharedWith: service });
  const { key, id, apiKeyId } = await service.key({
    rateLimits: { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: null },
  });
  let over = false;
  const early: number[] = [];
  const callers = [service, second].flatMap(({ call }) =>
    Array.from({ length: 8 }, async () => {
      while (!over) {
        const body = { variables: { name: 'x' } };
        const { status } = await call('POST', `${agent.path}/execute`, { key, body });
        early.push(status);
      }
    }),
  );
  while (!early.includes(202)) await new Promise((resolve) => setTimeout(resolve, 5));
  await revoke(apiKeyId);
  const late = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      (i % 2 ? service : second).call('POST', `${agent.path}/execute`, {
        ...{ key, body: { variables: { name: 'x' } } },
      }),
    ),
  );
  over = true;
  await Promise.all(callers);
  assert.deepEqual(new Set(late.map(({ status }) => status)), new Set([401]));
  // By the clock under the lock, every accepted request came first.
  const { rows } = await sql<{ accepted: number; after: number }>`
    select count(*) as accepted, count(*) filter (where e.executed_at > k.revoked_at) as after
    from all_executions e join api_keys k on k.id = e.api_key_id
    where k.id = ${id} and e.status <> 'unauthorized'`.execute(service.db);
  assert.deepEqual(rows[0], {
    accepted: early.filter((status) => status === 202).length,
    after: 0,
  });
  await second.close();
});

test('404 for a key that the caller cannot see, which stays valid', async () => {
  const [a, b] = [await addAgent(service), await addAgent(service)];
  const editor = await service.member('editor');
  const hidden = await addAgent(service, { visibility: 'private' });
  const caller = await service.key({ agentIds: [a.agentId] });
  const beyond = [
    [{ key: caller.key }, await service.key()],
    [{ key: caller.key }, await service.key({ agentIds: [b.agentId] })],
    [{ key: caller.key }, await service.key({ agentIds: [a.agentId, b.agentId] })],
    [{ user: editor }, await service.key({ agentIds: [hidden.agentId] })],
  ] as const;
  for (const [options, key] of beyond) {
    const { status, body } = await revoke(key.apiKeyId, options);
    assert.deepEqual([status, body.code], [404, 'NOT_FOUND']);
    assert.equal((await service.call('GET', '/api/v1/keys', { key: key.key })).status, 200);
  }
});
