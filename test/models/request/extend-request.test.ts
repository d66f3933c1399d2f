import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { askModel, failedModel } from '../../../harness/ask-model.ts';
import { type FakeProvider, startFakeProvider } from '../../../harness/fake-provider.ts';
import type { ProviderKind } from '../../../src/core/model/provider.ts';
import { languageModel } from '../../../src/models/adapters/language-model.ts';
import { complete, type ProviderSettings } from '../../../src/models/connection/settings.ts';
import { generate } from '../../../src/models/generate.ts';

/** Requests with the headers, query parameters and body fields of a provider's settings. */

let fake: FakeProvider;
before(async () => {
  fake = await startFakeProvider();
});
after(() => fake.close());

const extras = {
  headers: { 'X-Gateway-Key': 'gateway-secret', Accept: 'application/json' },
  query: { 'api-version': '2024-10-21', team: 'a b&c' },
  bodyExtra: { temperature: 0.7, metadata: { own: [1] }, service_tier: null },
};

const calls: [kind: ProviderKind, path: RegExp][] = [
  ['openai', /^\/v1\/chat\/completions$/],
  ['azure', /^\/v1\/chat\/completions$/],
  ['anthropic', /^\/v1\/messages$/],
  ['google', /^\/v1\/models\/m:generateContent$/],
  ['bedrock', /^\/v1\/model\/m\/converse$/],
  ['ollama', /^\/v1\/chat\/completions$/],
  ['openai-compatible', /^\/v1\/chat\/completions$/],
];
for (const [kind, path] of calls) {
  test(`${kind}: headers, query and body are extended`, async () => {
    const before = fake.calls.length;
    await askModel(fake, { kind, extras }, { temperature: 0.2, model: 'fake/m' }).catch(() => {});
    const [sent] = fake.calls.slice(before);
    assert.ok(sent);
    const url = new URL(sent.path, 'http://h');
    assert.match(url.pathname, path);
    assert.deepEqual(
      [url.searchParams.get('api-version'), url.searchParams.get('team')],
      ['2024-10-21', 'a b&c'],
    );
    assert.equal(sent.headers['x-gateway-key'], 'gateway-secret');
    assert.partialDeepStrictEqual(sent.body, extras.bodyExtra);
  });
}

test('objects in the body are merged, lists and other values replaced', async () => {
  const before = fake.calls.length;
  const google = { bodyExtra: { generationConfig: { topK: 4, stopSequences: ['x'] } } };
  const settings = { kind: 'google', extras: { headers: {}, query: {}, ...google } } as const;
  await askModel(fake, settings, { temperature: 0.2, model: 'fake/m' }).catch(() => {});
  assert.deepEqual(fake.calls[before]?.body.generationConfig, {
    ...{ temperature: 0.2, topK: 4, stopSequences: ['x'] },
  });
});

test('organization and project are headers of OpenAI', async () => {
  const before = fake.calls.length;
  await askModel(fake, { kind: 'openai', organization: 'org-1', project: 'proj-1' });
  const headers = fake.calls[before]?.headers;
  assert.deepEqual(
    [headers?.['openai-organization'], headers?.['openai-project']],
    ['org-1', 'proj-1'],
  );
});

test('a header carries the credential instead of an API key', async () => {
  const own = { headers: { Authorization: 'Basic abc' }, query: {}, bodyExtra: {} };
  for (const kind of ['openai', 'anthropic', 'openai-compatible'] as const) {
    const before = fake.calls.length;
    await askModel(fake, { kind, apiKey: null, extras: own }).catch(() => {});
    const headers = fake.calls[before]?.headers;
    assert.deepEqual([headers?.authorization, headers?.['x-api-key']], ['Basic abc', undefined]);
  }
});

test('values are removed from errors, whole, in part and encoded', async () => {
  const secrets = {
    headers: {
      'x-gateway': 'gateway-secret-1',
      authorization: 'Basic dXNlcjpwYXNz',
      'x-config': '{"api_key":"inner-secret-1"}',
    },
    query: { code: 'query secret/1', 'api-version': '2024-10-21' },
    bodyExtra: { metadata: { token: 'body-secret-1' } },
  };
  const message =
    'No: gateway-secret-1, dXNlcjpwYXNz, inner-secret-1, query secret/1, query%20secret%2F1, body-secret-1, 2024-10-21.';
  fake.script({ status: 400, body: { error: { message } } });
  const failure = await failedModel(fake, { apiKey: null, extras: secrets });
  const hidden = Array.from({ length: 6 }, () => '[redacted]').join(', ');
  assert.equal(failure.message, `The provider answered 400: No: ${hidden}, 2024-10-21.`);
});

test('a signature covers what was added', async () => {
  const signed = async (settings: Partial<ProviderSettings>) => {
    const requests: { url: string; headers: Headers; body: string }[] = [];
    const fetch: typeof globalThis.fetch = async (url, init) => {
      const body = String(init?.body);
      requests.push({ url: String(url), headers: new Headers(init?.headers), body });
      throw new TypeError('not sent');
    };
    const whole = {
      name: 'p',
      kind: 'bedrock',
      apiKey: 'AKIAEXAMPLE:secret',
      baseURL: null,
    } as const;
    const connection = complete({ ...whole, ...settings }, false, '');
    const model = await languageModel(connection, 'm', fetch);
    const call = { system: null, user: 'hi', temperature: null, maxTokens: null, topP: null };
    await generate(model, call, AbortSignal.timeout(10_000)).catch(() => {});
    assert.ok(requests[0]);
    return requests[0];
  };
  const { url, headers, body } = await signed({ extras });
  assert.match(url, /converse\?api-version=2024-10-21&team=a\+b%26c$/);
  assert.partialDeepStrictEqual(JSON.parse(body), { metadata: { own: [1] } });
  const authorization = headers.get('authorization') ?? '';
  assert.match(authorization, /^AWS4-HMAC-SHA256 .*SignedHeaders=[^,]*x-gateway-key/);
  assert.doesNotMatch(authorization, /signed\b.*Bearer|Bearer/);
});
