import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';
import { toId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();

const setRole = (userId: string, role: string) =>
  service.call('PATCH', `/api/v1/members/${toId('user', userId)}`, { key, body: { role } });

test('a role applies from the next request on, to sessions and keys', async () => {
  const userId = await service.member('viewer');
  const own = await service.key({ userId });
  const makePrompt = async (who: object) =>
    (await service.call('POST', '/api/v1/prompts', { ...who, body: { name: 'P' } })).status;
  const deniedWith = async (who: object) =>
    (await service.call('POST', '/api/v1/prompts', { ...who, body: { name: 'P' } })).body.message;
  const both = async () => [await makePrompt({ user: userId }), await makePrompt({ key: own.key })];
  assert.deepEqual(await both(), [403, 403]);

  const { status, body } = await setRole(userId, 'editor');
  assert.deepEqual([status, body.role, body.userId], [200, 'editor', toId('user', userId)]);
  assert.deepEqual(await both(), [201, 201]);

  assert.equal((await setRole(userId, 'viewer')).status, 200);
  assert.deepEqual(await both(), [403, 403]);
  assert.deepEqual(
    [await deniedWith({ user: userId }), await deniedWith({ key: own.key })],
    [
      'The role viewer does not allow this.',
      'The issuer of this key has the role viewer, which does not allow this.',
    ],
  );
});

test('an owner can step down if another remains', async () => {
  const userId = await service.member('owner');
  const response = await service.call('PATCH', `/api/v1/members/${toId('user', userId)}`, {
    user: userId,
    body: { role: 'editor' },
  });
  assert.deepEqual([response.status, response.body.role], [200, 'editor']);
  const list = await service.call('GET', '/api/v1/invitations', { user: userId });
  assert.equal(list.status, 403);
});

test('losing ownership revokes the invitations of that owner', async () => {
  const userId = await service.member('owner');
  const body = { email: 'friend@example.com', role: 'owner' };
  await service.call('POST', '/api/v1/invitations', { user: userId, body });
  const others = { email: 'kept@example.com', role: 'viewer' };
  await service.call('POST', '/api/v1/invitations', { key, body: others });
  assert.equal((await setRole(userId, 'owner')).status, 200);
  assert.equal((await setRole(userId, 'editor')).status, 200);
  const { rows } = await sql<{ email: string }>`select email from invitations`.execute(service.db);
  assert.deepEqual(rows, [{ email: 'kept@example.com' }]);
});

test('409 for the last owner', async () => {
  const { workspaceId, ownerId } = await service.workspace();
  const own = `/api/v1/members/${toId('user', ownerId)}`;
  for (const role of ['editor', 'viewer']) {
    const response = await service.call('PATCH', own, { user: ownerId, body: { role } });
    assert.deepEqual([response.status, response.body.code], [409, 'CONFLICT']);
  }
  assert.equal((await service.call('GET', '/api/v1/invitations', { user: ownerId })).status, 200);
  const { key } = await service.key({ workspaceId, userId: ownerId });
  assert.equal((await service.call('PATCH', own, { key, body: { role: 'owner' } })).status, 200);
});
