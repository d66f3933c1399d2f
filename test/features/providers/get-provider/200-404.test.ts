import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/providers/openai';
const user = service.ownerId;
const put = await service.call('PUT', path, { user, body: { kind: 'openai', apiKey: 'sk-x' } });

test('200 with the stored provider, for an owner and a viewer', async () => {
  for (const reader of [user, await service.member('viewer')]) {
    const { status, body } = await service.call('GET', path, { user: reader });
    assert.deepEqual([status, body], [200, put.body]);
  }
});

test('404 for a name that is unknown, malformed, or of another workspace', async () => {
  for (const name of ['other', 'OpenAI', 'cueline', 'a%00b', 'x'.repeat(2_000)]) {
    const { status, body } = await service.call('GET', `/api/v1/providers/${name}`, { user });
    assert.deepEqual([status, body.code], [404, 'NOT_FOUND']);
  }
  const { ownerId } = await service.workspace();
  assert.equal((await service.call('GET', path, { user: ownerId })).status, 404);
});
