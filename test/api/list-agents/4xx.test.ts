import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { listAgents } from '../../../src/contract/agents/agents.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/agents';

testRefusals(service, listAgents, { path });

const wrong: [query: string, named: string][] = [
  ['status=draft', 'status'],
  ['status=success', 'status'],
  ['status=', 'status'],
  ['limit=0', 'limit'],
  ['limit=101', 'limit'],
  ['limit=1e1', 'limit'],
  ['offset=-1', 'offset'],
  ['offset=1000000001', 'offset'],
  ['archived=1', 'archived'],
  ['project=%00', 'project'],
  ['tag=a%00', 'tag'],
  ['q=%00', 'q'],
  [`tag=${'x'.repeat(51)}`, 'tag'],
  [`q=${'x'.repeat(201)}`, 'q'],
  ['status=Draft&status=Paused', 'status'],
];
for (const [query, named] of wrong) {
  test(`400 for ${query.slice(0, 20)}, naming the parameter`, async () => {
    const { key } = await service.key();
    const { status, body } = await service.call('GET', `${path}?${query}`, { key });
    assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST']);
    assert.match(body.message, new RegExp(`"${named}"`));
  });
}

test('400 for an unknown stage, naming the known ones', async () => {
  const { key } = await service.key();
  const { body } = await service.call('GET', `${path}?status=x`, { key });
  assert.match(body.message, /Draft, Testing, Deployed, Paused/);
});
