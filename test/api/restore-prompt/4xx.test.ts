import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeAgent, makePrompt } from '../../../harness/prompts.ts';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { restorePrompt } from '../../../src/contract/agents/prompts.ts';

const service = await startService();
after(service.close);
const prompt = await makePrompt(service, { user: 'x' });
const path = `${prompt.path}/restore`;

testRefusals(service, restorePrompt, { path });

test('403 for a key that is restricted to agents, even to an agent of this prompt', async () => {
  const { agentId } = await makeAgent(service, prompt);
  const { key } = await service.key({ agentIds: [agentId] });
  const response = await service.call('POST', path, { key });
  assert.deepEqual([response.status, response.body.code], [403, 'PERMISSION_DENIED']);
});
