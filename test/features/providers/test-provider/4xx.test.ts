import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';

const requested: string[] = [];
const service = await startService({
  testConnection: async (_, name) => {
    requested.push(name);
    return undefined;
  },
});
after(service.close);
const path = '/api/v1/providers/openai/test';

test('404 for an unknown or malformed name', async () => {
  const user = service.ownerId;
  for (const name of ['other', 'cueline', 'a%00b', 'x'.repeat(65)]) {
    const { status, body } = await service.call('POST', `/api/v1/providers/${name}/test`, { user });
    assert.deepEqual([status, body.code], [404, 'NOT_FOUND']);
  }
  assert.deepEqual(requested, []);
});

test('400 for a malformed model name', async () => {
  const user = service.ownerId;
  await service.call('PUT', '/api/v1/providers/openai', { user, body: { kind: 'openai' } });
  requested.length = 0;
  for (const model of ['a b', 'a\nb']) {
    const { status, body } = await service.call('POST', path, { user, body: { model } });
    assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST']);
    assert.match(body.message, /"model"/);
  }
  assert.deepEqual(requested, []);
});
