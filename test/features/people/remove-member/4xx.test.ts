import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { freshId } from '../../../../harness/fresh-id.ts';
import { startService } from '../../../../harness/service.ts';
import { toId } from '../../../../src/core/id.ts';

const service = await startService();
after(service.close);
const member = await service.member('viewer');
const path = `/api/v1/members/${toId('user', member)}`;

test('403 for a member who is not an owner, except for their own membership', async () => {
  const editor = await service.member('editor');
  const { key } = await service.key({ userId: member });
  const unknown = `/api/v1/members/${toId('user', freshId())}`;
  for (const [from, who] of [
    [path, { user: editor }],
    [unknown, { user: editor }],
    [path, { key }],
  ] as const) {
    const response = await service.call('DELETE', from, who);
    assert.deepEqual([response.status, response.body.code], [403, 'PERMISSION_DENIED']);
  }
});

test('404 for a member of another workspace, and for a former member', async () => {
  const { key } = await service.key();
  const stranger = toId('user', (await service.workspace()).ownerId);
  const gone = toId('user', await service.member('viewer'));
  assert.equal((await service.call('DELETE', `/api/v1/members/${gone}`, { key })).status, 204);
  for (const userId of [stranger, gone]) {
    const response = await service.call('DELETE', `/api/v1/members/${userId}`, { key });
    assert.deepEqual([response.status, response.body.code], [404, 'NOT_FOUND']);
  }
});

test('409 for the last owner, whose keys stay valid; the message says what to do', async () => {
  const { workspaceId, ownerId } = await service.workspace();
  const { key } = await service.key({ workspaceId, userId: ownerId });
  const own = `/api/v1/members/${toId('user', ownerId)}`;
  for (const who of [{ key }, { user: ownerId }]) {
    const response = await service.call('DELETE', own, who);
    assert.deepEqual([response.status, response.body.code], [409, 'CONFLICT']);
    assert.match(response.body.message, /Make another member an owner first/);
  }
});
