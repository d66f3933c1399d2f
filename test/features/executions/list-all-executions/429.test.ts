import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';

const service = await startService({ config: { listPerMinute: 3 } });
after(service.close);
const path = '/api/v1/executions';

test('429 above the limit of list calls', async () => {
  const { key } = await service.key();
  const responses = [];
  // Seven requests span at most two minutes.
  for (let call = 0; call < 7; call++) responses.push(await service.call('GET', path, { key }));
  const refused = responses.find(({ status }) => status === 429);
  assert.ok(refused);
  assert.ok(refused.body.retryAfter >= 1);
  assert.equal(refused.headers.get('retry-after'), String(refused.body.retryAfter));
});
