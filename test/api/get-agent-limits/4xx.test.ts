import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { getAgentLimits } from '../../../src/contract/agents/agents.ts';

const service = await startService();
after(service.close);

testRefusals(service, getAgentLimits, { path: `${(await addAgent(service)).path}/limits` });

test("404 for another member's private agent", async () => {
  const hidden = await addAgent(service, { visibility: 'private' });
  const user = await service.member('editor');
  assert.equal((await service.call('GET', `${hidden.path}/limits`, { user })).status, 404);
});
