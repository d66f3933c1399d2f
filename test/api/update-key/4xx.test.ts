import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { updateKey } from '../../../src/contract/workspace/keys.ts';

const service = await startService();
after(service.close);
const pathOf = ({ apiKeyId }: { apiKeyId: string }) => `/api/v1/keys/${apiKeyId}`;

testRefusals(service, updateKey, { path: pathOf(await service.key()), body: { name: 'New' } });

const body = { name: 'New' };

test('404 for a key that the caller cannot see', async () => {
  const editor = await service.member('editor');
  const hidden = await addAgent(service, { visibility: 'private' });
  const key = await service.key({ agentIds: [hidden.agentId] });
  const response = await service.call('PATCH', pathOf(key), { user: editor, body });
  assert.deepEqual([response.status, response.body.code], [404, 'NOT_FOUND']);
});

test("403 for an editor with an owner's key for the whole workspace", async () => {
  const editor = await service.member('editor');
  const response = await service.call('PATCH', pathOf(await service.key()), { user: editor, body });
  assert.deepEqual([response.status, response.body.code], [403, 'PERMISSION_DENIED']);
});

test('409 for a key that has ended', async () => {
  const expired = await service.key({ expiresAt: new Date('2020-01-01') });
  const revoked = await service.key();
  const user = service.ownerId;
  await service.call('POST', `${pathOf(revoked)}/revoke`, { user });
  for (const key of [expired, revoked]) {
    const response = await service.call('PATCH', pathOf(key), { user, body });
    assert.deepEqual([response.status, response.body.code], [409, 'CONFLICT']);
  }
});

test('400 for fields that cannot change', async () => {
  const user = service.ownerId;
  const key = await service.key();
  for (const wrong of [
    { permissions: ['own'] },
    { name: '' },
    { rateLimits: { requestsPerMinute: -1 } },
  ]) {
    const response = await service.call('PATCH', pathOf(key), { user, body: wrong });
    assert.deepEqual([response.status, response.body.code], [400, 'INVALID_REQUEST']);
  }
});
