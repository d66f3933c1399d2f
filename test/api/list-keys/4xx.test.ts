import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { listKeys } from '../../../src/contract/workspace/keys.ts';

const service = await startService();
after(service.close);

testRefusals(service, listKeys, { path: '/api/v1/keys' });

const wrong: [query: string, said: RegExp][] = [
  ['limit=0', /"limit".*1 to 100/],
  ['limit=101', /"limit".*1 to 100/],
  ['limit=ten', /"limit".*1 to 100/],
  ['limit=', /"limit".*1 to 100/],
  ['limit=1&limit=2', /"limit" may be given only once/],
  ['offset=-1', /"offset".*0 to/],
];
for (const [query, said] of wrong) {
  test(`400 for ${query}, naming the allowed values`, async () => {
    const { key } = await service.key();
    const { status, body } = await service.call('GET', `/api/v1/keys?${query}`, { key });
    assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST']);
    assert.match(body.message, said);
  });
}
