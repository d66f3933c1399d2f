import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { toId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();

const remove = (userId: string) =>
  service.call('DELETE', `/api/v1/members/${toId('user', userId)}`, { key });

test('a removed member and their keys get 401 from the next request on', async () => {
  const { cookie, userId } = await service.signIn('editor');
  const agent = await addAgent(service, { visibility: 'public' });
  const keys = [await service.key({ userId }), await service.key({ userId })];
  const reach = async () => {
    const body = { variables: { name: 'x' } };
    const list = await service.call('GET', '/api/v1/members', { cookie });
    const calls = keys.map((one) =>
      service.call('POST', `${agent.path}/execute`, { key: one.key, body }),
    );
    return [list, ...(await Promise.all(calls))].map(({ status }) => status);
  };
  assert.deepEqual(await reach(), [200, 202, 202]);

  const { status, body } = await remove(userId);
  assert.deepEqual([status, body], [204, null]);
  assert.deepEqual(await reach(), [401, 401, 401]);
  const { rows } = await sql<{ revoked: boolean }>`
    select revoked_at is not null as revoked from api_keys where issued_by = ${userId}`.execute(
    service.db,
  );
  assert.deepEqual(rows, [{ revoked: true }, { revoked: true }]);
  const { body: listed } = await service.call('GET', '/api/v1/members', { key });
  assert.ok(listed.members.every((one: { userId: string }) => one.userId !== toId('user', userId)));
  assert.equal((await service.call('GET', '/api/v1/members', { key })).status, 200);
});

test('a member who returns does not regain old keys', async () => {
  const userId = await service.member('editor');
  const old = await service.key({ userId });
  await remove(userId);
  await sql`
    insert into members (workspace_id, user_id, role)
    values (${service.workspaceId}, ${userId}, 'owner')`.execute(service.db);
  assert.equal((await service.call('GET', '/api/v1/members', { key: old.key })).status, 401);
});

test('their other workspaces and the resources they created remain', async () => {
  const other = await service.workspace();
  const userId = await service.member('editor');
  await sql`
    insert into members (workspace_id, user_id, role)
    values (${other.workspaceId}, ${userId}, 'editor')`.execute(service.db);
  const elsewhere = await service.key({ userId, workspaceId: other.workspaceId });
  const agent = await addAgent(service, { createdBy: userId, visibility: 'public' });
  await remove(userId);
  const call = (path: string, secret: string) => service.call('GET', path, { key: secret });
  assert.equal((await call('/api/v1/members', elsewhere.key)).status, 200);
  assert.equal((await call(`${agent.path}/executions`, key)).status, 200);
});

test('any member can leave, which revokes their keys', async () => {
  for (const role of ['viewer', 'editor'] as const) {
    const userId = await service.member(role);
    const own = await service.key({ userId });
    const path = `/api/v1/members/${toId('user', userId)}`;
    assert.equal((await service.call('DELETE', path, { user: userId })).status, 204);
    const { rows } = await sql`
      select from members where user_id = ${userId}
      union all select from api_keys where id = ${own.id} and revoked_at is null`.execute(
      service.db,
    );
    assert.deepEqual(rows, []);
    const { body } = await service.call('GET', '/api/v1/audit?limit=1', { key });
    const [{ action, userId: by }] = body.audit;
    assert.deepEqual([action, by], ['member.remove', toId('user', userId)]);
    assert.equal((await service.call('DELETE', path, { user: userId })).status, 401);
  }
});

test('an owner can leave if another remains, which revokes their open invitations', async () => {
  const userId = await service.member('owner');
  const body = { email: 'friend@example.com', role: 'owner' };
  await service.call('POST', '/api/v1/invitations', { user: userId, body });
  const path = `/api/v1/members/${toId('user', userId)}`;
  assert.equal((await service.call('DELETE', path, { user: userId })).status, 204);
  const { body: open } = await service.call('GET', '/api/v1/invitations', { key });
  assert.deepEqual(open, { invitations: [] });
});
