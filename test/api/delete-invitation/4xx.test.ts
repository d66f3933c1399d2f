import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { deleteInvitation } from '../../../src/contract/workspace/members.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const input = { email: 'new@example.com', role: 'viewer' };
const { body } = await service.call('POST', '/api/v1/invitations', { key, body: input });
const path = `/api/v1/invitations/${body.invitationId}`;

testRefusals(service, deleteInvitation, { path });

test('403 for an editor', async () => {
  const user = await service.member('editor');
  assert.equal((await service.call('DELETE', path, { user })).status, 403);
});
