import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { listPrompts } from '../../../src/contract/agents/prompts.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/prompts';

testRefusals(service, listPrompts, { path });

const wrong: [query: string, named: string][] = [
  ['limit=0', 'limit'],
  ['limit=101', 'limit'],
  ['limit=ten', 'limit'],
  ['limit=1.5', 'limit'],
  ['limit=', 'limit'],
  ['offset=-1', 'offset'],
  ['offset=1e3', 'offset'],
  ['archived=yes', 'archived'],
  ['q=%00', 'q'],
  [`q=${'x'.repeat(201)}`, 'q'],
  ['q=a&q=b', 'q'],
];
for (const [query, named] of wrong) {
  test(`400 for ${query.slice(0, 20)}, naming the parameter`, async () => {
    const { key } = await service.key();
    const { status, body } = await service.call('GET', `${path}?${query}`, { key });
    assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST']);
    assert.match(body.message, new RegExp(`"${named}"`));
  });
}
