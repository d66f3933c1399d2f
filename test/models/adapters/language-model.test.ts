import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { emptySetup } from '../../../harness/setups.ts';
import {
  type AnswerDetails,
  type ModelCall,
  noDetails,
} from '../../../src/core/model/model-port.ts';
import { languageModel } from '../../../src/models/adapters/language-model.ts';
import { complete, type ProviderSettings } from '../../../src/models/connection/settings.ts';
import { generate } from '../../../src/models/generate.ts';
import { chat, response } from '../generated.ts';

/**
 * The request and the parsed response of each kind. Requests are intercepted; the environment is full of credentials
 * and URLs that no request may contain.
 */

const decoy = 'env-secret';
const decoys = {
  OPENAI_API_KEY: decoy,
  OPENAI_BASE_URL: `https://${decoy}.example`,
  ANTHROPIC_API_KEY: decoy,
  ANTHROPIC_AUTH_TOKEN: decoy,
  ANTHROPIC_BASE_URL: `https://${decoy}.example`,
  GOOGLE_GENERATIVE_AI_API_KEY: decoy,
  AZURE_API_KEY: decoy,
  AZURE_RESOURCE_NAME: decoy,
  AWS_BEARER_TOKEN_BEDROCK: decoy,
  AWS_ACCESS_KEY_ID: decoy,
  AWS_SECRET_ACCESS_KEY: decoy,
  AWS_SESSION_TOKEN: decoy,
  AWS_REGION: decoy,
  AWS_ENDPOINT_URL: `https://${decoy}.example`,
  AWS_ENDPOINT_URL_BEDROCK_RUNTIME: `https://${decoy}.example`,
};
const original = Object.keys(decoys).map((name) => [name, process.env[name]] as const);
before(() => Object.assign(process.env, decoys));
after(() => {
  for (const [name, value] of original) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

const call: ModelCall = {
  executionId: 'exe',
  workspaceId: 'wsp',
  model: 'p/m',
  setup: emptySetup,
  system: 'Be brief.',
  user: 'hello',
  temperature: 0.5,
  maxTokens: 9,
  topP: null,
  timeoutMs: 1_000,
  called: false,
  signal: new AbortController().signal,
};

async function send(settings: Partial<ProviderSettings>, model: string, body: object, more = {}) {
  const sent: { url: string; headers: Headers; body: Record<string, unknown> }[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const sentBody = JSON.parse(String(init?.body));
    sent.push({ url: String(url), headers: new Headers(init?.headers), body: sentBody });
    return Response.json(body);
  };
  const whole = { name: 'p', kind: 'openai', apiKey: 'key', baseURL: null, ...settings } as const;
  const connection = complete(whole, false, 'http://127.0.0.1:11434');
  const ready = await languageModel(connection, model, fetch);
  const { rated: _, ...generated } = await generate(ready, { ...call, ...more }, call.signal);
  const [request] = sent;
  assert.ok(request && sent.length === 1);
  const serialized = JSON.stringify([request.url, [...request.headers], request.body]);
  assert.ok(!serialized.includes(decoy), `the environment leaked: ${serialized}`);
  return { ...request, generated };
}

const completion = (content: string | null) =>
  chat(undefined, { message: { role: 'assistant', content } });
const responses = response({
  usage: {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 4 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 3 },
  },
});
const counted = (inputTokens: number, outputTokens: number, read = 0, write = 0) => ({
  text: 'hi',
  toolCalls: [],
  finishReason: 'stop',
  providerError: null,
  settingsNotApplied: [],
  usage: { inputTokens, outputTokens, cacheReadTokens: read, cacheWriteTokens: write },
  statedCost: null,
});
const detailed = (details: Partial<AnswerDetails>) => ({ details: { ...noDetails, ...details } });

describe('OpenAI', () => {
  test('uses the Responses API with store: false', async () => {
    const { url, headers, body, generated } = await send({}, 'gpt-4o', responses);
    assert.equal(url, 'https://api.openai.com/v1/responses');
    assert.equal(headers.get('authorization'), 'Bearer key');
    assert.equal(body.store, false);
    assert.deepEqual([body.model, body.temperature, body.max_output_tokens], ['gpt-4o', 0.5, 9]);
    assert.ok(!('top_p' in body) && !('stream' in body && body.stream));
    const named = { modelAnswered: 'm', providerRequestId: 'r', reasoningTokens: 3 };
    const details = { ...named, providerFinishReason: 'completed' };
    assert.deepEqual(generated, { ...counted(10, 5, 4), ...detailed(details) });
  });

  test('uses chat completions with another base URL', async () => {
    const settings = { baseURL: 'https://gateway.example/openai' };
    const { url, body } = await send(settings, 'gpt-4o', chat());
    assert.equal(url, 'https://gateway.example/openai/chat/completions');
    assert.deepEqual(body, {
      model: 'gpt-4o',
      max_tokens: 9,
      temperature: 0.5,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hello' },
      ],
    });
  });
});

test('null parameters are omitted', async () => {
  const settings = { kind: 'openai-compatible', baseURL: 'https://h.example/v1' } as const;
  const nulls = { system: null, temperature: null, maxTokens: null, topP: null };
  const { body } = await send(settings, 'm', chat(), nulls);
  assert.deepEqual(body, { model: 'm', messages: [{ role: 'user', content: 'hello' }] });
  const zero = { ...nulls, temperature: 0, topP: 0.1 };
  const other = await send(settings, 'm', chat(), zero);
  assert.deepEqual([other.body.temperature, other.body.top_p], [0, 0.1]);
});

test('Azure accepts the bare resource URL and the deployment as the model', async () => {
  const settings = { kind: 'azure', baseURL: 'https://res.openai.azure.com' } as const;
  const { url, headers, body } = await send(settings, 'my-deployment', responses);
  assert.equal(url, 'https://res.openai.azure.com/openai/v1/responses');
  assert.equal(headers.get('api-key'), 'key');
  assert.deepEqual([body.model, body.store], ['my-deployment', false]);
});

test('Anthropic: cached tokens are part of the input', async () => {
  const { url, headers, generated } = await send({ kind: 'anthropic' }, 'claude-opus-5', {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'c',
    content: [{ type: 'text', text: 'hi' }],
    stop_reason: 'end_turn',
    usage: {
      input_tokens: 10,
      output_tokens: 2,
      cache_read_input_tokens: 5,
      cache_creation_input_tokens: 3,
    },
  });
  assert.equal(url, 'https://api.anthropic.com/v1/messages');
  assert.equal(headers.get('x-api-key'), 'key');
  // The package leaves out the temperature for this model.
  const expected = { ...counted(18, 2, 5, 3), settingsNotApplied: ['temperature'] };
  const named = { modelAnswered: 'c', providerRequestId: 'm' };
  const details = { ...named, providerFinishReason: 'end_turn' };
  assert.deepEqual(generated, { ...expected, ...detailed(details) });
});

test('Google: thoughts are output, and the URL does not contain the key', async () => {
  const { url, headers, generated } = await send({ kind: 'google' }, 'gemini-2.5-pro', {
    candidates: [{ content: { parts: [{ text: 'hi' }] }, finishReason: 'STOP' }],
    usageMetadata: {
      promptTokenCount: 10,
      candidatesTokenCount: 2,
      thoughtsTokenCount: 3,
      cachedContentTokenCount: 4,
    },
  });
  assert.match(url, /^https:\/\/generativelanguage\.googleapis\.com\/v1beta\/models\/[^?]+$/);
  assert.equal(headers.get('x-goog-api-key'), 'key');
  const details = { reasoningTokens: 3, providerFinishReason: 'STOP' };
  assert.deepEqual(generated, { ...counted(10, 5, 4), ...detailed(details) });
});

test('Google: a blocked prompt', async () => {
  const blocked = { promptFeedback: { blockReason: 'SAFETY' } };
  const { generated } = await send({ kind: 'google' }, 'gemini-2.5-pro', blocked);
  assert.equal(generated.finishReason, 'content-filter');
});

describe('Bedrock', () => {
  const answer = {
    output: { message: { role: 'assistant', content: [{ text: 'hi' }] } },
    stopReason: 'end_turn',
    usage: { inputTokens: 10, outputTokens: 2, totalTokens: 17, cacheReadInputTokens: 5 },
  };

  test('with an API key', async () => {
    const { url, headers, generated } = await send(
      { kind: 'bedrock' },
      'amazon.nova-pro-v1:0',
      answer,
    );
    assert.equal(
      url,
      'https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-pro-v1%3A0/converse',
    );
    assert.equal(headers.get('authorization'), 'Bearer key');
    const named = { modelAnswered: 'amazon.nova-pro-v1:0' };
    const details = { ...named, providerFinishReason: 'end_turn' };
    assert.deepEqual(generated, { ...counted(15, 2, 5), ...detailed(details) });
  });

  test('with a key pair, signs for the region of the URL', async () => {
    const baseURL = 'https://bedrock-runtime.eu-west-1.amazonaws.com';
    const settings = { kind: 'bedrock', apiKey: 'AKIAEXAMPLE:secret:token', baseURL } as const;
    const { headers } = await send(settings, 'm', answer);
    const signature = /^AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE\/\d{8}\/eu-west-1\/bedrock\//;
    assert.match(headers.get('authorization') ?? '', signature);
    assert.equal(headers.get('x-amz-security-token'), 'token');
    const two = await send({ ...settings, apiKey: 'AKIAEXAMPLE:secret' }, 'm', answer);
    assert.equal(two.headers.get('x-amz-security-token'), null);
  });

  test('with a key pair, rejects a URL without a region', async () => {
    const settings = { kind: 'bedrock', apiKey: 'a:b', baseURL: 'https://h.example' } as const;
    await assert.rejects(send(settings, 'm', answer), { code: 'PROVIDER_NOT_CONFIGURED' });
  });
});

test('without a key no authorization is sent', async () => {
  for (const kind of ['openai-compatible', 'ollama'] as const) {
    const settings = { kind, apiKey: null, baseURL: 'https://h.example' };
    const { headers } = await send(settings, 'm', chat());
    assert.equal(headers.get('authorization'), null);
  }
});

test('the text of a response is storable', async () => {
  const settings = { kind: 'openai-compatible', baseURL: 'https://h.example/v1' } as const;
  const { generated } = await send(settings, 'm', completion('a\0b\ud800c🙂'));
  assert.equal(generated.text, 'a\ufffdb\ufffdc🙂');
  const empty = await send(settings, 'm', completion(null));
  assert.equal(empty.generated.text, '');
});
