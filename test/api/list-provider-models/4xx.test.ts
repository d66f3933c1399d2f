import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../harness/service.ts';

const service = await startService();
after(service.close);
const user = service.ownerId;
const body = { kind: 'openai', apiKey: 'sk-x' };
await service.call('PUT', '/api/v1/providers/own', { user, body });

const path = '/api/v1/providers/own/models';

test('401 without a caller, 403 without the right to change agents', async () => {
  assert.equal((await service.call('GET', path)).status, 401);
  const viewer = await service.member('viewer');
  assert.equal((await service.call('GET', path, { user: viewer })).status, 403);
  const { key } = await service.key({ permissions: ['execute', 'read'] });
  assert.equal((await service.call('GET', path, { key })).status, 403);
});

test('404 for the provider of another workspace', async () => {
  const { ownerId } = await service.workspace();
  assert.equal((await service.call('GET', path, { user: ownerId })).status, 404);
});

test('404 for a provider that neither the workspace nor the environment has', async () => {
  for (const name of ['unknown', 'cueline', '%00']) {
    const response = await service.call('GET', `/api/v1/providers/${name}/models`, { user });
    assert.equal(response.status, 404, name);
  }
});
