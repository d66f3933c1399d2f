import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../harness/service.ts';
import { toId } from '../../../src/core/id.ts';

const service = await startService();
after(service.close);

test('says who is signed in, where, and as what', async () => {
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
  });
});
