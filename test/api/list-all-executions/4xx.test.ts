import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../harness/service.ts';

const service = await startService({ config: { listPerMinute: 3 } });
after(service.close);
const path = '/api/v1/executions';

test('400 for an invalid parameter, naming the allowed values', async () => {
  const { key } = await service.key();
  const { status, body } = await service.call('GET', `${path}?status=done`, { key });
  assert.equal(status, 400);
  assert.match(body.message, /status.*success, failed/);
});

test('401 without a valid key, 403 without the permission', async () => {
  assert.equal((await service.call('GET', path)).status, 401);
  const { key } = await service.key({ permissions: ['execute'] });
  assert.equal((await service.call('GET', path, { key })).status, 403);
});

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
