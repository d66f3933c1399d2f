import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';
import { toId } from '../../../../src/core/id.ts';

const service = await startService();
after(service.close);
const user = service.ownerId;

async function invite(email: string, role: string) {
  const body = { email, role };
  const response = await service.call('POST', '/api/v1/invitations', { user, body });
  assert.equal(response.status, 201);
  const token = response.body.url.split('/').at(-1);
  return { invitation: response.body, path: `/api/v1/invitations/by-token/${token}` };
}

test('the link shows the address, workspace, role and expiry', async () => {
  const { invitation, path } = await invite('new@example.com', 'editor');
  const { status, body } = await service.call('GET', path);
  assert.equal(status, 200);
  assert.deepEqual(body, {
    email: 'new@example.com',
    workspaceId: toId('workspace', service.workspaceId),
    name: 'Test',
    role: 'editor',
    expiresAt: invitation.expiresAt,
  });
});

test('the response does not reveal an account, and reading keeps the link valid', async () => {
  const { email } = await service.signIn({ userId: (await service.workspace()).ownerId });
  const { path } = await invite(email, 'viewer');
  const { body: without } = await service.call(
    'GET',
    (await invite('no@example.com', 'viewer')).path,
  );
  for (let i = 0; i < 20; i++) {
    const { status, body } = await service.call('GET', path);
    assert.deepEqual([status, body.role], [200, 'viewer']);
    assert.deepEqual(Object.keys(body), Object.keys(without));
  }
});
