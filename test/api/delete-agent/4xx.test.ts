import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { deleteAgent } from '../../../src/contract/agents/agents.ts';

const service = await startService();
after(service.close);
const agent = await addAgent(service, { stage: 'Testing' });

testRefusals(service, deleteAgent, { path: agent.path });

test('404 for an agent that the caller or its key cannot access', async () => {
  const hidden = await addAgent(service, { stage: 'Testing', visibility: 'private' });
  const user = await service.member('editor');
  const tied = await service.key({ agentIds: [agent.agentId] });
  for (const caller of [{ user }, { key: tied.key }]) {
    assert.equal((await service.call('DELETE', hidden.path, caller)).status, 404);
  }
  assert.equal((await service.call('GET', hidden.path, { user: service.ownerId })).status, 200);
});
