import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type AgentOptions, addAgent } from '../../harness/agents.ts';
import { startService } from '../../harness/service.ts';

const service = await startService();
after(service.close);

const standings: [what: string, options: AgentOptions, allowed: string[]][] = [
  ['Draft', { stage: 'Draft' }, ['enable-api', 'archive']],
  ['Deployed', { stage: 'Deployed' }, ['rollback', 'disable']],
  ['an archived Draft', { stage: 'Draft', archived: true }, ['restore']],
];
for (const [what, options, allowed] of standings) {
  test(`refuses an agent that is ${what}, and names what is allowed`, async () => {
    const { path } = await addAgent(service, options);
    const { key } = await service.key();
    const { status, body } = await service.call('DELETE', path, { key });
    assert.deepEqual([status, body.code], [409, 'ILLEGAL_TRANSITION']);
    assert.deepEqual(body.allowedActions, allowed);
    assert.equal((await service.call('GET', path, { key })).status, 200);
  });
}
