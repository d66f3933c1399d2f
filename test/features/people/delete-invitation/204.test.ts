import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/invitations';

test('a revoked invitation cannot be accepted', async () => {
  const { key } = await service.key();
  const input = { email: 'new@example.com', role: 'viewer' };
  const { body: invitation } = await service.call('POST', path, { key, body: input });
  const one = `${path}/${invitation.invitationId}`;
  const { status, body } = await service.call('DELETE', one, { key });
  assert.deepEqual([status, body], [204, null]);
  assert.deepEqual((await service.call('GET', path, { key })).body, { invitations: [] });
  assert.equal((await service.call('DELETE', one, { key })).status, 404);
  const token = invitation.url.split('/').at(-1);
  const acceptance = { token, name: 'New', password: 'correct horse battery' };
  const accepted = await service.call('POST', `${path}/accept`, { body: acceptance });
  assert.equal(accepted.status, 404);
});
