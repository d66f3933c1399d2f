import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';
import { toId } from '../../../../src/core/id.ts';

const service = await startService();
after(service.close);

test('every member sees all members of the workspace, oldest first', async () => {
  const editor = await service.member('editor');
  const viewer = await service.member('viewer');
  await service.workspace();
  const { key } = await service.key();
  for (const who of [{ user: viewer }, { user: editor }, { key }]) {
    const { status, body } = await service.call('GET', '/api/v1/members', who);
    assert.equal(status, 200);
    assert.deepEqual(
      body.members.map(({ userId, role, email }: Record<string, string>) => [userId, role, email]),
      [
        [service.ownerId, 'owner'],
        [editor, 'editor'],
        [viewer, 'viewer'],
      ].map(([id = '', role]) => [toId('user', id), role, `${id}@example.com`]),
    );
  }
});
