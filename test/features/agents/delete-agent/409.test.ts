import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type AgentOptions, addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);

const standings: [what: string, options: AgentOptions, stage: string, allowed: string[]][] = [
  ['Draft', { stage: 'Draft' }, 'Draft', ['enable-api', 'archive']],
  ['Deployed', { stage: 'Deployed' }, 'Deployed', ['rollback', 'disable']],
  ['an archived Draft', { stage: 'Draft', archived: true }, 'Draft', ['restore']],
];
for (const [what, options, stage, allowed] of standings) {
  test(`409 for an agent that is ${what}, naming the allowed actions`, async () => {
    const { path } = await addAgent(service, options);
    const { key } = await service.key();
    const { status, body } = await service.call('DELETE', path, { key });
    assert.deepEqual([status, body.code], [409, 'ILLEGAL_TRANSITION']);
    assert.deepEqual(body.allowedActions, allowed);
    assert.ok(body.message.startsWith(`It cannot be deleted in stage ${stage}. `), body.message);
    assert.equal((await service.call('GET', path, { key })).status, 200);
  });
}
