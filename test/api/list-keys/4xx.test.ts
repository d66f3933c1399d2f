import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { listKeys } from '../../../src/contract/keys.ts';
import { testRefusals } from '../../harness/refusals.ts';
import { startService } from '../../harness/service.ts';

const service = await startService();
after(service.close);

testRefusals(service, listKeys, { path: '/api/v1/keys' });

const wrong = ['limit=0', 'limit=101', 'limit=ten', 'limit=', 'limit=1&limit=2', 'offset=-1'];
for (const query of wrong) {
  test(`400 for ${query}, naming what is allowed`, async () => {
    const { key } = await service.key();
    const { status, body } = await service.call('GET', `/api/v1/keys?${query}`, { key });
    assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST']);
    assert.match(body.message, query.startsWith('limit') ? /"limit".*1 to 100/ : /"offset".*0 to/);
  });
}
