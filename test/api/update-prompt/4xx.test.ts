import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeAgent, makePrompt } from '../../../harness/prompts.ts';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { updatePrompt } from '../../../src/contract/agents/prompts.ts';

const service = await startService();
after(service.close);
const prompt = await makePrompt(service, { user: 'x' });

testRefusals(service, updatePrompt, { path: prompt.path, body: { name: 'P' } });

for (const body of [{ name: null }, { name: '' }, { description: 5 }, { archived: true }]) {
  test(`400 for ${JSON.stringify(body)}`, async () => {
    const { key } = await service.key();
    const response = await service.call('PATCH', prompt.path, { key, body });
    assert.deepEqual([response.status, response.body.code], [400, 'INVALID_REQUEST']);
  });
}

test('403 for a key that is restricted to agents, even to an agent of this prompt', async () => {
  const { agentId } = await makeAgent(service, prompt);
  const { key } = await service.key({ agentIds: [agentId] });
  const response = await service.call('PATCH', prompt.path, { key, body: { name: 'P' } });
  assert.deepEqual([response.status, response.body.code], [403, 'PERMISSION_DENIED']);
});
