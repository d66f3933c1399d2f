import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { getAgent } from '../../../src/contract/agents/agents.ts';

const service = await startService();
after(service.close);
const agent = await addAgent(service);

testRefusals(service, getAgent, { path: agent.path });

test("404 for another member's private agent, by session and by key", async () => {
  const { path } = await addAgent(service, { visibility: 'private' });
  const userId = await service.member('editor');
  const { key } = await service.key({ userId });
  for (const caller of [{ user: userId }, { key }]) {
    const { status, body } = await service.call('GET', path, caller);
    assert.deepEqual([status, body.code], [404, 'NOT_FOUND']);
  }
});

test('404 for a key that is limited to another agent', async () => {
  const other = await addAgent(service);
  const { key } = await service.key({ agentIds: [other.agentId] });
  assert.equal((await service.call('GET', agent.path, { key })).status, 404);
  assert.equal((await service.call('GET', other.path, { key })).status, 200);
});
