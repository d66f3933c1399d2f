import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { createInvitation } from '../../../src/contract/workspace/members.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/invitations';
const body = { email: 'new@example.com', role: 'viewer' };

testRefusals(service, createInvitation, { path, body });

const wrong: [string, object][] = [
  ['no role', { email: 'new@example.com' }],
  ['no address', { role: 'viewer' }],
  ['an address without a domain', { email: 'new', role: 'viewer' }],
  ['an address that could not sign in', { email: 'new@localhost', role: 'viewer' }],
  ['an address of 255 characters', { email: `${'x'.repeat(243)}@example.com`, role: 'viewer' }],
  ['an address with a blank', { email: 'a b@example.com', role: 'viewer' }],
  ['a role that there is not', { email: 'new@example.com', role: 'admin' }],
];
for (const [what, input] of wrong) {
  test(`400 for ${what}`, async () => {
    const { key } = await service.key();
    const response = await service.call('POST', path, { key, body: input });
    assert.deepEqual([response.status, response.body.code], [400, 'INVALID_REQUEST']);
  });
}

test('403 for a member who is not an owner, and for a key that is restricted to agents', async () => {
  const tied = await service.key({ agentIds: [(await addAgent(service)).agentId] });
  for (const who of [{ user: await service.member('editor') }, { key: tied.key }]) {
    const response = await service.call('POST', path, { ...who, body });
    assert.deepEqual([response.status, response.body.code], [403, 'PERMISSION_DENIED']);
  }
});

test('409 for the address of a member', async () => {
  const { key } = await service.key();
  const email = `${await service.member('viewer')}@EXAMPLE.com`;
  const response = await service.call('POST', path, { key, body: { email, role: 'owner' } });
  assert.deepEqual([response.status, response.body.code], [409, 'CONFLICT']);
});
