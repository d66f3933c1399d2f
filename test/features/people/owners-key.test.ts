import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';
import { toId } from '../../../src/core/id.ts';
import { sql } from '../../../src/db/sql.ts';

/** Only owners revoke and rotate keys that owners issued for the whole workspace; `own` needs an owner. */

const service = await startService();
after(service.close);
const agent = await addAgent(service);

for (const action of ['revoke', 'rotate'] as const) {
  test(`403 for an editor who would ${action} an owner’s key for the whole workspace`, async () => {
    const editor = await service.member('editor');
    const owners = await service.key();
    const editors = await service.key({ userId: editor });
    const path = `/api/v1/keys/${owners.apiKeyId}/${action}`;
    for (const caller of [{ user: editor }, { key: editors.key }]) {
      const { status, body } = await service.call('POST', path, caller);
      assert.deepEqual([status, body.code], [403, 'PERMISSION_DENIED']);
    }
    assert.equal((await service.call('GET', '/api/v1/keys', { key: owners.key })).status, 200);
    const other = await service.member('owner');
    const { status } = await service.call('POST', path, { user: other });
    assert.equal(status, action === 'revoke' ? 200 : 201);
  });

  test(`an editor may ${action} a key for agents, and one of a former owner`, async () => {
    const editor = await service.member('editor');
    const former = await service.member('owner');
    const tied = await service.key({ agentIds: [agent.agentId] });
    const theirs = await service.key({ userId: former, permissions: ['execute'] });
    const path = ({ apiKeyId }: { apiKeyId: string }) => `/api/v1/keys/${apiKeyId}/${action}`;
    const expected = action === 'revoke' ? 200 : 201;
    assert.equal((await service.call('POST', path(tied), { user: editor })).status, expected);
    assert.equal((await service.call('POST', path(theirs), { user: editor })).status, 403);
    await sql`update members set role = 'editor' where user_id = ${former}`.execute(service.db);
    assert.equal((await service.call('POST', path(theirs), { user: editor })).status, expected);
  });
}

test('"own" ends when the issuer is no owner any more', async () => {
  const userId = await service.member('owner');
  const { key } = await service.key({ userId, permissions: ['own', 'read'] });
  const audit = () => service.call('GET', '/api/v1/audit', { key });
  assert.equal((await audit()).status, 200);
  const path = `/api/v1/members/${toId('user', userId)}`;
  const body = { role: 'editor' };
  await service.call('PATCH', path, { user: service.ownerId, body });
  assert.equal((await audit()).status, 403);
});
