import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { setPlan } from '../../../src/contract/workspace/usage.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/plan';
const good = { name: 'Team', actionsPerMonth: 5 };

testRefusals(service, setPlan, { path, body: good });

async function refused(options: object, status: number, code: string): Promise<void> {
  const response = await service.call('PUT', path, { body: good, ...options });
  assert.deepEqual([response.status, response.body.code], [status, code]);
  const usage = await service.call('GET', '/api/v1/usage', { user: service.ownerId });
  assert.equal(usage.body.plan, 'self-hosted');
}

const wrong: [string, object][] = [
  ['no name', { actionsPerMonth: 5 }],
  ['a name of blanks', { name: ' ', actionsPerMonth: 5 }],
  ['a name of 201 characters', { name: 'x'.repeat(201), actionsPerMonth: 5 }],
  ['no number', { name: 'Team' }],
  ['a number below 0', { name: 'Team', actionsPerMonth: -1 }],
  ['no whole number', { name: 'Team', actionsPerMonth: 1.5 }],
  ['a number above a trillion', { name: 'Team', actionsPerMonth: 1_000_000_000_001 }],
  ['a text', { name: 'Team', actionsPerMonth: '5' }],
];
for (const [what, body] of wrong) {
  test(`400 for ${what}`, () => refused({ user: service.ownerId, body }, 400, 'INVALID_REQUEST'));
}

test('403 for an editor and an editor’s key', async () => {
  const userId = await service.member('editor');
  await refused({ user: userId }, 403, 'PERMISSION_DENIED');
  await refused({ key: (await service.key({ userId })).key }, 403, 'PERMISSION_DENIED');
});

test('403 for an owner’s key that is restricted to agents', async () => {
  const { agentId } = await addAgent(service);
  const { key } = await service.key({ agentIds: [agentId] });
  await refused({ key }, 403, 'PERMISSION_DENIED');
});
