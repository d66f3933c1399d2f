import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProviderKind } from '../../src/core/model/provider.ts';
import { languageModel } from '../../src/models/adapters/language-model.ts';
import { complete } from '../../src/models/connection/settings.ts';
import { testConnection } from '../../src/models/connection-test.ts';
import { generate } from '../../src/models/generate.ts';

/** The request of a connection test, and the failure that the response leads to. */
async function tested(kind: ProviderKind, name: string, response: Response, baseURL?: string) {
  const connection = complete(
    { name, kind, apiKey: 'sk-credential', baseURL: baseURL ?? null },
    false,
    'http://127.0.0.1:11434',
  );
  const requests: Request[] = [];
  const fetch = (async (input: string, init?: RequestInit) => {
    requests.push(new Request(input, init));
    return response;
  }) as typeof globalThis.fetch;
  const failure = await testConnection(connection, fetch, 10_000).then(
    () => null,
    (error) => error,
  );
  const [request] = requests;
  assert.ok(request);
  return { request, failure };
}

const list = () => Response.json({ data: [] });

const kinds: [ProviderKind, string, url: string, header: string, value: string, base?: string][] = [
  ['openai', 'openai', 'https://api.openai.com/v1/models', 'authorization', 'Bearer sk-credential'],
  [
    'anthropic',
    'anthropic',
    'https://api.anthropic.com/v1/models?limit=1',
    'x-api-key',
    'sk-credential',
  ],
  [
    'google',
    'google',
    'https://generativelanguage.googleapis.com/v1beta/models?pageSize=1',
    'x-goog-api-key',
    'sk-credential',
  ],
  [
    'azure',
    'azure',
    'https://own.openai.azure.com/openai/v1/models?api-version=v1',
    'api-key',
    'sk-credential',
    'https://own.openai.azure.com',
  ],
  ['ollama', 'ollama', 'http://127.0.0.1:11434/api/tags', 'authorization', 'Bearer sk-credential'],
  [
    'ollama',
    'ollama',
    'http://127.0.0.1:1/v1/models',
    'authorization',
    'Bearer sk-credential',
    'http://127.0.0.1:1/v1',
  ],
  [
    'azure',
    'azure',
    'https://own.openai.azure.com/openai/models?api-version=2024-10-21',
    'api-key',
    'sk-credential',
    'https://own.openai.azure.com/openai/deployments/prod',
  ],
  [
    'openai-compatible',
    'openrouter',
    'https://openrouter.ai/api/v1/key',
    'authorization',
    'Bearer sk-credential',
  ],
];
for (const [kind, name, url, header, value, base] of kinds) {
  test(`${name} is tested with its own header at ${url}`, async () => {
    const { request, failure } = await tested(kind, name, list(), base);
    assert.deepEqual([request.method, request.url, failure], ['GET', url, null]);
    assert.equal(request.headers.get(header), value);
  });
}

test('the test and a call append their paths to the same base, however it was pasted', async () => {
  for (const end of [
    ...['', '/', '//', '///'],
    ...['/chat/completions', '/chat/completions/', '//chat/completions', '/messages', '/responses'],
  ]) {
    for (const kind of ['openai-compatible', 'openai', 'anthropic', 'google', 'azure'] as const) {
      const baseURL = `https://a.example/v1${end}`;
      const { request } = await tested(kind, 'own', list(), baseURL);
      assert.match(request.url, /^https:\/\/a\.example\/v1\/models(\?|$)/, end);
      assert.match(await called(kind, baseURL), /^https:\/\/a\.example\/v1\/[a-z]/, end);
    }
    const { request } = await tested('ollama', 'ollama', list(), `https://a.example${end}`);
    assert.equal(request.url, 'https://a.example/api/tags');
  }
});

/** The URL that an execution calls. */
async function called(kind: ProviderKind, baseURL: string): Promise<string> {
  const connection = complete({ name: 'own', kind, apiKey: 'sk-credential', baseURL }, false, '');
  let url = '';
  const fetch = (async (input: string) => {
    url = input;
    return Response.json({}, { status: 404 });
  }) as typeof globalThis.fetch;
  const model = await languageModel(connection, 'some-model', fetch);
  const call = { system: null, user: 'x', temperature: null, maxTokens: null, topP: null };
  await generate(model, call, AbortSignal.timeout(10_000)).catch(() => {});
  return url;
}

test('Bedrock accepts the credential if only the model is unknown', async () => {
  const refused = (status: number, message: string, type: string) =>
    Response.json({ message }, { status, headers: { 'x-amzn-errortype': type } });
  const unknown = refused(400, 'The provided model identifier is invalid.', 'ValidationException');
  const { request, failure } = await tested('bedrock', 'bedrock', unknown);
  assert.match(request.url, /bedrock-runtime\.us-east-1\..*\/model\/cueline\.connection-test\//);
  assert.equal(failure, null);
  const denied = refused(403, 'The security token is invalid.', 'UnrecognizedClientException');
  assert.equal((await tested('bedrock', 'bedrock', denied)).failure.code, 'PROVIDER_AUTH');
});

test('an error with status 200 is a failure', async () => {
  const response = Response.json({ error: { message: 'No such key', code: 401 } });
  const { failure } = await tested('openai-compatible', 'own', response, 'https://a.example');
  assert.equal(failure.code, 'PROVIDER_AUTH');
});
