import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';

const service = await startService({ config: { listPerMinute: 40 } });
after(service.close);
const path = '/api/v1/executions/export';

test('429 above the limit of list calls', async () => {
  const { key } = await service.key();
  const statuses: number[] = [];
  // The requests span at most two minutes.
  for (let call = 0; call < 81; call++) {
    statuses.push((await service.call('GET', `${path}?status=done`, { key })).status);
  }
  assert.ok(statuses.includes(429));
});
