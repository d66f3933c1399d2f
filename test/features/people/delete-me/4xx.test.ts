import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/me';

test('409 for the last owner of any workspace, and nothing changes', async () => {
  const { workspaceId, ownerId } = await service.workspace();
  const owner = await service.signIn({ userId: ownerId });
  await sql`
    insert into members (workspace_id, user_id, role)
    values (${service.workspaceId}, ${ownerId}, 'viewer')`.execute(service.db);
  const { status, body } = await service.call('DELETE', path, owner);
  assert.deepEqual([status, body.code], [409, 'CONFLICT']);
  assert.match(body.message, /last owner of the workspace "Test"/);
  const { body: me } = await service.call('GET', path, owner);
  assert.equal(me.workspaces.length, 2);

  await service.member('owner', workspaceId);
  assert.equal((await service.call('DELETE', path, owner)).status, 204);
});

test('of two owners that delete their accounts at once, one stays', async () => {
  const { workspaceId, ownerId } = await service.workspace();
  const owners = [ownerId, await service.member('owner', workspaceId)];
  const signedIn = await Promise.all(owners.map((userId) => service.signIn({ userId })));
  const both = await Promise.all(signedIn.map((one) => service.call('DELETE', path, one)));
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [204, 409]);
});

test('403 from another origin, and nothing changes', async () => {
  const { cookie } = await service.signIn('viewer');
  const headers = { origin: 'https://evil.example' };
  assert.equal((await service.call('DELETE', path, { cookie, headers })).status, 403);
  assert.equal((await service.call('GET', path, { cookie })).status, 200);
});
