import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/providers/openai';
const user = service.ownerId;
beforeEach(() => service.call('PUT', path, { user, body: { kind: 'openai', apiKey: 'sk-x' } }));

test('204, and it no longer exists', async () => {
  assert.equal((await service.call('DELETE', path, { user })).status, 204);
  assert.equal((await service.call('GET', path, { user })).status, 404);
  assert.equal((await service.call('DELETE', path, { user })).status, 404);
});

test('404 for an unknown provider; other providers remain', async () => {
  const { ownerId } = await service.workspace();
  assert.equal((await service.call('DELETE', path, { user: ownerId })).status, 404);
  for (const name of ['other', 'a%00b']) {
    const { status } = await service.call('DELETE', `/api/v1/providers/${name}`, { user });
    assert.equal(status, 404);
  }
  assert.equal((await service.call('GET', path, { user })).status, 200);
});
