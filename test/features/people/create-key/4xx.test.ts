import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { during } from '../../../../harness/locks.ts';
import type { KeyOptions } from '../../../../harness/people.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/keys';
const agent = await addAgent(service);
const other = await addAgent(service);
const good = { name: 'K', agentIds: [agent.agentId], permissions: ['read'] };

async function keys(): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from api_keys`.execute(service.db);
  return rows[0]?.n ?? 0;
}

async function refused(options: object, status: number, code: string): Promise<string> {
  const before = await keys();
  const response = await service.call('POST', path, { body: good, ...options });
  assert.deepEqual([response.status, response.body.code], [status, code]);
  assert.equal(await keys(), before);
  return response.body.message;
}

const wrong: [what: string, field: string, body: object][] = [
  ['"own" for a key that is restricted to agents', 'agentIds', { permissions: ['read', 'own'] }],
  ['an expiry that is no date', 'expiresAt', { expiresAt: 'tomorrow' }],
  ['an expiry that is past', 'expiresAt', { expiresAt: '2020-01-01T00:00:00Z' }],
  ['an expiry in the year 0', 'expiresAt', { expiresAt: '0000-01-01' }],
  ['an expiry in the year 10000', 'expiresAt', { expiresAt: '9999-12-31T23:59:59-01:00' }],
];
for (const [what, field, body] of wrong) {
  test(`400 for ${what}, naming the field`, async () => {
    const { key } = await service.key();
    const message = await refused({ key, body: { ...good, ...body } }, 400, 'INVALID_REQUEST');
    assert.match(message, new RegExp(field));
  });
}

const narrow: KeyOptions = {
  agentIds: [agent.agentId],
  permissions: ['read', 'manage'],
  rateLimits: { requestsPerMinute: 10 },
  expiresAt: new Date('2090-01-01'),
};
const fitting = {
  ...good,
  rateLimits: { requestsPerMinute: 10 },
  expiresAt: '2090-01-01T00:00:00Z',
};
const wider: [what: string, body: object, RegExp][] = [
  ['a permission', { permissions: ['read', 'execute'] }, /"execute"/],
  ['all agents', { agentIds: null }, /whole workspace/],
  ['a limit', { rateLimits: { requestsPerMinute: 11 } }, /"requestsPerMinute".* 10\b/],
  ['no limit', { rateLimits: { requestsPerMinute: null } }, /"requestsPerMinute"/],
  ['the default limit', { rateLimits: {} }, /"requestsPerMinute"/],
  ['a later expiry', { expiresAt: '2090-01-01T00:00:00.001Z' }, /2090-01-01T00:00:00\.000Z/],
  ['no expiry', { expiresAt: null }, /2090-01-01/],
];
for (const [what, body, expected] of wider) {
  test(`403 for a key that exceeds its issuer by ${what}`, async () => {
    const { key } = await service.key(narrow);
    assert.equal((await service.call('POST', path, { key, body: fitting })).status, 201);
    const message = await refused({ key, body: { ...fitting, ...body } }, 403, 'PERMISSION_DENIED');
    assert.match(message, expected);
  });
}

test('403 for a permission that the issuer of the key has lost', async () => {
  const userId = await service.member('editor');
  const { key } = await service.key({ userId });
  await sql`update members set role = 'viewer' where user_id = ${userId}`.execute(service.db);
  await refused({ key }, 403, 'PERMISSION_DENIED');
});

test('403 for "own" if the issuer lacks it', async () => {
  const body = { name: 'K', agentIds: null, permissions: ['own'] };
  const { key } = await service.key({ permissions: ['execute', 'read', 'cancel', 'manage'] });
  assert.match(await refused({ key, body }, 403, 'PERMISSION_DENIED'), /"own"/);
  await refused({ user: await service.member('editor'), body }, 403, 'PERMISSION_DENIED');
  const owned = await service.key({ permissions: ['own'] });
  await refused({ key: owned.key, body }, 403, 'PERMISSION_DENIED');
  assert.equal((await service.call('POST', path, { user: service.ownerId, body })).status, 201);
});

test('404 for an agent that the caller cannot see', async () => {
  const { workspaceId, ownerId } = await service.workspace();
  const foreign = await addAgent(service, { workspaceId, createdBy: ownerId });
  const user = await service.member('editor');
  const hidden = await addAgent(service, { visibility: 'private' });
  const deleted = await addAgent(service, { stage: 'Paused' });
  await sql`update agents set deleted_at = clock_timestamp() where id = ${deleted.id}`.execute(
    service.db,
  );
  const unknown = ['agt_01jd0000000000000000000000', 'nothing', '', agent.agentId.toUpperCase()];
  const hiddenIds = [foreign.agentId, hidden.agentId, deleted.agentId, ...unknown];
  for (const agentId of hiddenIds) {
    const body = { ...good, agentIds: [agent.agentId, agentId] };
    await refused({ user, body }, 404, 'NOT_FOUND');
  }
  const tied = await service.key({ agentIds: [agent.agentId] });
  const body = { ...good, agentIds: [other.agentId] };
  await refused({ key: tied.key, body }, 404, 'NOT_FOUND');
});

test('401 if the key is revoked during the request', async () => {
  const { key, id } = await service.key();
  const before = await keys();
  const { status } = await during(
    service.db,
    async (trx) => {
      await sql`select from limits where subject = ${id} for update`.execute(trx);
      await sql`update api_keys set revoked_at = clock_timestamp() where id = ${id}`.execute(trx);
    },
    () => service.call('POST', path, { key, body: good }),
  );
  assert.equal(status, 401);
  assert.equal(await keys(), before);
});

test('401 if the member is removed during the request, 403 if the member becomes a viewer', async () => {
  for (const [change, expected] of [
    [sql`delete from members where user_id =`, 401],
    [sql`update members set role = 'viewer' where user_id =`, 403],
  ] as const) {
    const user = await service.member('editor');
    const { status } = await during(
      service.db,
      (trx) => sql`${change} ${user}`.execute(trx),
      () => service.call('POST', path, { user, body: good }),
    );
    assert.equal(status, expected);
  }
});
