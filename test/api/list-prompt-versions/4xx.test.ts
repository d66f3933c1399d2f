import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makePrompt } from '../../../harness/prompts.ts';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { listPromptVersions } from '../../../src/contract/agents/prompts.ts';

const service = await startService();
after(service.close);
const path = `${(await makePrompt(service)).path}/versions`;

testRefusals(service, listPromptVersions, { path });

for (const query of ['limit=0', 'limit=101', 'offset=-1', 'offset=x']) {
  test(`400 for ${query}`, async () => {
    const { key } = await service.key();
    const { status, body } = await service.call('GET', `${path}?${query}`, { key });
    assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST']);
  });
}
