import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);

async function nameOf(user: string) {
  const { body } = await service.call('GET', '/api/v1/me', { user });
  const { workspaceId, workspaces } = body;
  return workspaces.find((one: { workspaceId: string }) => one.workspaceId === workspaceId).name;
}

test('an owner renames the workspace for every member; the audit log has the name', async () => {
  const user = service.ownerId;
  const { body: me } = await service.call('GET', '/api/v1/me', { user });
  const body = { name: 'Büro “Süd”' };
  const renamed = await service.call('PATCH', '/api/v1/workspace', { user, body });
  assert.deepEqual([renamed.status, renamed.body], [200, { workspaceId: me.workspaceId, ...body }]);
  assert.equal(await nameOf(await service.member('viewer')), body.name);
  const path = '/api/v1/audit?action=workspace.change';
  const { body: log } = await service.call('GET', path, { user });
  assert.partialDeepStrictEqual(log.audit, [{ subject: me.workspaceId, details: body }]);
});

test('an owner’s key with "own" may rename it, others may not', async () => {
  const rename = (options: object, name: string) =>
    service.call('PATCH', '/api/v1/workspace', { ...options, body: { name } });
  const { key } = await service.key({ permissions: ['own'] });
  assert.equal((await rename({ key }, 'By key')).status, 200);
  const { key: manager } = await service.key({ permissions: ['read', 'manage'] });
  const editor = await service.member('editor');
  for (const options of [{ key: manager }, { user: editor }]) {
    const { status } = await rename(options, 'Not allowed');
    assert.equal(status, 403);
  }
  assert.equal(await nameOf(service.ownerId), 'By key');
});
