import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makePrompt } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);

test('restores an archived prompt; a second restore changes nothing', async () => {
  const { path } = await makePrompt(service);
  const { key } = await service.key();
  await service.call('POST', `${path}/archive`, { key });
  const restored = await service.call('POST', `${path}/restore`, { key });
  assert.deepEqual([restored.status, restored.body.archived], [200, false]);
  assert.equal(restored.headers.get('etag'), '"3"');
  const again = await service.call('POST', `${path}/restore`, { key });
  assert.deepEqual(again.body, restored.body);
  const version = { key, body: { user: 'x' } };
  assert.equal((await service.call('POST', `${path}/versions`, version)).status, 201);
});
