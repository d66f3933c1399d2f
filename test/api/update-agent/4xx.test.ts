import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { makeAgent, makePrompt } from '../../../harness/prompts.ts';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { updateAgent } from '../../../src/contract/agents/agents.ts';

const service = await startService();
after(service.close);
const agent = await makeAgent(service, await makePrompt(service, { user: 'x' }));
const other = await makePrompt(service, { user: 'x' });

testRefusals(service, updateAgent, { path: agent.path, body: { agentName: 'B' } });

const ids = [
  'ver_01jd0000000000000000000000',
  'nonsense',
  agent.prompt.promptId,
  other.versionIds[0],
];
for (const promptVersionId of ids) {
  test(`404 for a version that its prompt does not have: ${promptVersionId}`, async () => {
    const { key } = await service.key();
    const body = { promptVersionId };
    const response = await service.call('PATCH', agent.path, { key, body });
    assert.deepEqual([response.status, response.body.code], [404, 'NOT_FOUND']);
  });
}

test('404 for an agent that the caller or its key cannot access', async () => {
  const { path } = await addAgent(service, { visibility: 'private' });
  const user = await service.member('editor');
  const tied = await service.key({ agentIds: [agent.agentId] });
  for (const caller of [{ user }, { key: tied.key }]) {
    const response = await service.call('PATCH', path, { ...caller, body: { agentName: 'B' } });
    assert.deepEqual([response.status, response.body.code], [404, 'NOT_FOUND']);
  }
});
