import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeAgent, makePrompt, move } from '../../../harness/prompts.ts';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { getPrompt } from '../../../src/contract/agents/prompts.ts';

const service = await startService();
after(service.close);

testRefusals(service, getPrompt, await makePrompt(service));

test('404 for a key that is restricted to agents of other prompts, or to a deleted agent of this one', async () => {
  const [prompt, other] = [
    await makePrompt(service, { user: 'x' }),
    await makePrompt(service, { user: 'x' }),
  ];
  const agent = await makeAgent(service, prompt);
  const { key } = await service.key({ agentIds: [agent.agentId] });
  assert.equal((await service.call('GET', other.path, { key })).status, 404);
  await move(service, agent, 'enable-api');
  await service.call('DELETE', agent.path, { key });
  assert.equal((await service.call('GET', prompt.path, { key })).status, 404);
});
