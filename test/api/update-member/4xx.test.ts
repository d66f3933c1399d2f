import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { updateMember } from '../../../src/contract/workspace/members.ts';
import { toId } from '../../../src/core/id.ts';

const service = await startService();
after(service.close);
const member = await service.member('viewer');
const path = `/api/v1/members/${toId('user', member)}`;
const body = { role: 'editor' };

testRefusals(service, updateMember, { path, body });

test('400 for an unknown role', async () => {
  const { key } = await service.key();
  for (const wrong of [{}, { role: 'admin' }, { role: null }, { role: 'Owner' }]) {
    assert.equal((await service.call('PATCH', path, { key, body: wrong })).status, 400);
  }
});

test('403 for a member who is not an owner, and for a key that is restricted to agents', async () => {
  const userId = await service.member('editor');
  const tied = await service.key({ agentIds: [(await addAgent(service)).agentId] });
  const issued = await service.key({ userId });
  for (const who of [{ user: userId }, { user: member }, { key: issued.key }, { key: tied.key }]) {
    const response = await service.call('PATCH', path, { ...who, body: { role: 'owner' } });
    assert.deepEqual([response.status, response.body.code], [403, 'PERMISSION_DENIED']);
  }
});

test('409 for the last owner', async () => {
  const { workspaceId, ownerId } = await service.workspace();
  const own = `/api/v1/members/${toId('user', ownerId)}`;
  for (const role of ['editor', 'viewer']) {
    const response = await service.call('PATCH', own, { user: ownerId, body: { role } });
    assert.deepEqual([response.status, response.body.code], [409, 'CONFLICT']);
  }
  assert.equal((await service.call('GET', '/api/v1/invitations', { user: ownerId })).status, 200);
  const { key } = await service.key({ workspaceId, userId: ownerId });
  assert.equal((await service.call('PATCH', own, { key, body: { role: 'owner' } })).status, 200);
});
