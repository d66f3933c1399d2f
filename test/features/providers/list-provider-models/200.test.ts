import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { sealKey, startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';
import { createCredentials } from '../../../../src/features/providers/verbs/credentials.ts';
import { createModels } from '../../../../src/models/registry.ts';

/** A provider that only lists models, in the format of its path. */
const lists: Readonly<Record<string, unknown>> = {
  '/openai/models': { data: [{ id: 'gpt-b' }, { id: 'gpt-a' }, { id: 'not a name' }] },
  '/google/models': { models: [{ name: 'models/gemini-x' }] },
  '/ollama/api/tags': { models: [{ name: 'llama3.2:latest' }] },
};
const provider = createServer((request, response) => {
  const list = lists[new URL(request.url ?? '/', 'http://provider').pathname];
  response.writeHead(list ? 200 : 401, { 'content-type': 'application/json' });
  response.end(JSON.stringify(list ?? { error: { message: 'Bad key.' } }));
});
await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
after(() => provider.close());
const host = `127.0.0.1:${(provider.address() as AddressInfo).port}`;

const models = createModels({
  open: createCredentials({ sealKey, onUnreadable: () => {} }),
  env: { OPENAI_API_KEY: 'sk-environment', OPENAI_BASE_URL: `http://${host}/openai` },
  allowedHosts: [host],
});
after(() => models.close());
const service = await startService({ config: { allowedHosts: [host] }, directory: models });
after(service.close);
const user = service.ownerId;

async function put(name: string, kind: string, path: string) {
  const body = { kind, apiKey: 'sk-stored', baseURL: 'https://a.example/v1' };
  const saved = await service.call('PUT', `/api/v1/providers/${name}`, { user, body });
  assert.equal(saved.status, 200);
  await sql`update providers set base_url = ${`http://${host}${path}`} where name = ${name}`.execute(
    service.db,
  );
}

async function listed(name: string) {
  const response = await service.call('GET', `/api/v1/providers/${name}/models`, { user });
  assert.equal(response.status, 200, JSON.stringify(response.body));
  return response.body;
}

test('names the models with the prefix of the provider, sorted', async () => {
  await put('own', 'openai-compatible', '/openai');
  assert.deepEqual(await listed('own'), { models: ['own/gpt-a', 'own/gpt-b'] });
  await put('gemini', 'google', '/google');
  assert.deepEqual(await listed('gemini'), { models: ['gemini/gemini-x'] });
});

test('a provider of the environment is listed and has models', async () => {
  assert.deepEqual(await listed('openai'), { models: ['openai/gpt-a', 'openai/gpt-b'] });
  const { body } = await service.call('GET', '/api/v1/providers', { user });
  assert.deepEqual(body.environment, [{ name: 'openai', kind: 'openai' }]);
});

test("the provider's refusal is a result", async () => {
  await put('refused', 'openai-compatible', '/nothing');
  const { models, error } = await listed('refused');
  assert.deepEqual(models, []);
  assert.equal(error.code, 'PROVIDER_AUTH');
  assert.doesNotMatch(error.message, /sk-stored/);
});
