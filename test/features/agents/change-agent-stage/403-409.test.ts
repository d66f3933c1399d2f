import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type AgentOptions, addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();

const actions = [
  ...['enable-api', 'deploy', 'rollback', 'disable', 're-enable', 'archive', 'restore'],
];
const standings: [what: string, options: AgentOptions, allowed: string[]][] = [
  ['Draft', { stage: 'Draft' }, ['enable-api', 'archive']],
  ['Testing', { stage: 'Testing' }, ['deploy', 'archive']],
  ['Deployed', { stage: 'Deployed' }, ['rollback', 'disable']],
  ['Paused', { stage: 'Paused' }, ['re-enable', 'archive']],
  ['archived', { stage: 'Testing', archived: true }, ['restore']],
];

for (const [what, options, allowed] of standings) {
  for (const action of actions.filter((one) => !allowed.includes(one))) {
    test(`409 for ${action} on an agent that is ${what}, naming the allowed actions`, async () => {
      const { path } = await addAgent(service, options);
      const before = await service.call('GET', path, { key });
      const response = await service.call('POST', `${path}/lifecycle`, { key, body: { action } });
      assert.deepEqual([response.status, response.body.code], [409, 'ILLEGAL_TRANSITION']);
      assert.deepEqual(response.body.allowedActions, allowed);
      for (const one of allowed) assert.ok(response.body.message.includes(one));
      const now = await service.call('GET', path, { key });
      assert.deepEqual(now.body, before.body);
      assert.equal(now.headers.get('etag'), '"1"');
    });
  }
}

test('403 for canceling executions without the permission to cancel', async () => {
  const { path: deployed } = await addAgent(service);
  const { key } = await service.key({ permissions: ['manage', 'read'] });
  const call = (body: object) => service.call('POST', `${deployed}/lifecycle`, { key, body });
  const response = await call({ action: 'disable', cancelRunning: true });
  assert.deepEqual([response.status, response.body.code], [403, 'PERMISSION_DENIED']);
  assert.match(response.body.message, /"cancel"/);
  assert.equal((await service.call('GET', deployed, { key })).body.status, 'Deployed');
  assert.equal((await call({ action: 'disable' })).status, 200);
});
