import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makePrompt } from '../../../harness/prompts.ts';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { getPromptVersion } from '../../../src/contract/agents/prompts.ts';

const service = await startService();
after(service.close);
const prompt = await makePrompt(service, { user: 'x' });

testRefusals(service, getPromptVersion, {
  path: `${prompt.path}/versions/${prompt.versionIds[0]}`,
});

test('404 for a version of another prompt, and for a malformed id', async () => {
  const other = await makePrompt(service, { user: 'x' });
  const { key } = await service.key();
  for (const id of [other.versionIds[0], prompt.promptId, 'ver_nonsense', 'v1', '%00']) {
    const { status, body } = await service.call('GET', `${prompt.path}/versions/${id}`, { key });
    assert.deepEqual([status, body.code], [404, 'NOT_FOUND']);
  }
});
