import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { listAllPins } from '../../../src/contract/agents/agents.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/pins';

testRefusals(service, listAllPins, { path });

const reversed = 'startDate=2026-03-05&endDate=2026-03-04';
for (const query of ['limit=0', 'limit=101', 'offset=-1', 'startDate=soon', reversed]) {
  test(`400 for ${query}`, async () => {
    const { key } = await service.key();
    const { status, body } = await service.call('GET', `${path}?${query}`, { key });
    assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST']);
  });
}
