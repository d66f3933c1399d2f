import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { changeAgentStage } from '../../../src/contract/agents/agents.ts';

const service = await startService();
after(service.close);
const agent = await addAgent(service, { stage: 'Draft' });
const path = `${agent.path}/lifecycle`;

testRefusals(service, changeAgentStage, { path, body: { action: 'enable-api' } });

for (const body of [{}, { action: 'delete' }, { action: 5 }, { action: 'Deploy' }]) {
  test(`400 for ${JSON.stringify(body)}, naming the field`, async () => {
    const { key } = await service.key();
    const response = await service.call('POST', path, { key, body });
    assert.deepEqual([response.status, response.body.code], [400, 'INVALID_REQUEST']);
    assert.match(response.body.message, /"action"/);
  });
}

test('400 for an unknown action, naming the known ones', async () => {
  const { key } = await service.key();
  const { body } = await service.call('POST', path, { key, body: { action: 'delete' } });
  assert.match(body.message, /enable-api, deploy, rollback, disable, re-enable, archive, restore/);
});

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
