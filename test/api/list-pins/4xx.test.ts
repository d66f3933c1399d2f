import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { listPins } from '../../../src/contract/agents/agents.ts';

const service = await startService();
after(service.close);
const path = `${(await addAgent(service)).path}/pins`;

testRefusals(service, listPins, { path });

for (const query of ['limit=0', 'limit=101', 'offset=-1', 'offset=x']) {
  test(`400 for ${query}`, async () => {
    const { key } = await service.key();
    const { status, body } = await service.call('GET', `${path}?${query}`, { key });
    assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST']);
  });
}

test("404 for another member's private agent", async () => {
  const hidden = await addAgent(service, { visibility: 'private' });
  const user = await service.member('editor');
  assert.equal((await service.call('GET', `${hidden.path}/pins`, { user })).status, 404);
});
