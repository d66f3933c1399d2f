import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sealKey, startService } from '../../../../harness/service.ts';
import { createCredentials } from '../../../../src/features/providers/verbs/credentials.ts';
import { createModels } from '../../../../src/models/registry.ts';

const directory = createModels({
  open: createCredentials({ sealKey, onUnreadable: () => {} }),
  env: { ANTHROPIC_API_KEY: 'sk-environment' },
  allowedHosts: [],
});
after(() => directory.close());
const service = await startService({ directory });
after(service.close);
const path = '/api/v1/prices';
const user = service.ownerId;

test('200 with the prices of the workspace, by model', async () => {
  const { ownerId: stranger } = await service.workspace();
  const put = async (model: string, owner: string) => {
    const body = { model, inputPerMillion: '1', outputPerMillion: '2' };
    return (await service.call('PUT', path, { user: owner, body })).body;
  };
  await put('foreign/model', stranger);
  const [b, a] = [await put('b/model', user), await put('a/model', user)];
  const viewer = await service.member('viewer');
  const { status, body } = await service.call('GET', path, { user: viewer });
  assert.deepEqual([status, body], [200, { prices: [a, b] }]);
});

test('with `provider` also what the built-in table says for its models', async () => {
  const { ownerId } = await service.workspace();
  const builtIn = async (provider: string) => {
    const listed = await service.call('GET', `${path}?provider=${provider}`, { user: ownerId });
    assert.deepEqual([listed.status, listed.body.prices], [200, []]);
    return new Map<string, object>(
      listed.body.builtIn.map(({ model, ...price }: { model: string }) => [model, price]),
    );
  };
  const put = async (name: string, provider: object) => {
    const body = { apiKey: 'sk-own', ...provider };
    const saved = await service.call('PUT', `/api/v1/providers/${name}`, { user: ownerId, body });
    assert.equal(saved.status, 200);
  };
  await put('gateway', { kind: 'openai', baseURL: 'https://gateway.example/v1' });
  assert.deepEqual((await builtIn('gateway')).get('gateway/gpt-4o'), {
    inputPerMillion: '2.5',
    outputPerMillion: '10',
    cacheReadPerMillion: '1.25',
    cacheWritePerMillion: '2.5',
  });
  const environment = await builtIn('anthropic');
  assert.ok([...environment.keys()].every((model) => model.startsWith('anthropic/')));
  assert.ok(environment.has('anthropic/claude-haiku-4-5'));
  // The vendor's own address finds its list; nobody knows the prices of another one.
  await put('router', { kind: 'openai-compatible', baseURL: 'https://openrouter.ai/api/v1' });
  assert.ok((await builtIn('router')).size > 100);
  await put('other', { kind: 'openai-compatible', baseURL: 'https://a.example/v1' });
  assert.equal((await builtIn('other')).size, 0);
  const unknown = await service.call('GET', `${path}?provider=nobody`, { user: ownerId });
  assert.deepEqual([unknown.status, unknown.body.code], [404, 'NOT_FOUND']);
});
