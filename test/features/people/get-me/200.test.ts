import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';
import { toId } from '../../../../src/core/id.ts';

const service = await startService();
after(service.close);

test('returns the user, the workspace and the role', async () => {
  const { cookie, userId, email } = await service.signIn('viewer');
  const { status, body } = await service.call('GET', '/api/v1/me', { cookie });
  const workspaceId = toId('workspace', service.workspaceId);
  assert.equal(status, 200);
  assert.deepEqual(body, {
    user: { userId: toId('user', userId), email, name: 'viewer' },
    workspaceId,
    role: 'viewer',
    workspaces: [{ workspaceId, name: 'Test', role: 'viewer' }],
    generatedPassword: false,
    dismissed: [],
  });
});
