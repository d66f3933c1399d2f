import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { askModel } from '../../../harness/ask-model.ts';
import { startFakeProvider } from '../../../harness/fake-provider.ts';
import type { Price } from '../../../src/core/model/price.ts';
import type { ProviderKind } from '../../../src/core/model/provider.ts';

/** Tokens of one kind with several rates: each is priced by its own, or the cost is unknown. */

const fake = await startFakeProvider();
after(fake.close);

const openai = (usage: object, more: object = {}) => ({
  ...{ id: 'c', object: 'chat.completion', model: 'm', ...more },
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hi' } }],
  usage,
});
const anthropic = (usage: object) => ({
  ...{ id: 'msg', type: 'message', role: 'assistant', model: 'c', stop_reason: 'end_turn' },
  ...{ content: [{ type: 'text', text: 'Hi' }], usage },
});
const google = (usageMetadata: object) => ({
  candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
  usageMetadata,
});
const bedrock = (usage: object) => ({
  output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
  ...{ stopReason: 'end_turn', usage },
});

const hour = (fiveMinutes: number, oneHour: number) => ({
  ...{ input_tokens: 10, output_tokens: 100, cache_read_input_tokens: 1_000 },
  cache_creation_input_tokens: fiveMinutes + oneHour,
  cache_creation: {
    ...{ ephemeral_5m_input_tokens: fiveMinutes, ephemeral_1h_input_tokens: oneHour },
  },
});
const spoken = { prompt_tokens: 1_000, completion_tokens: 100 };
const modal = (modality: string, tokenCount: number, text: number) => [
  { modality: 'TEXT', tokenCount: text },
  { modality, tokenCount },
];

/** Null: unknown. */
type Row = [name: string, kind: ProviderKind, model: string, body: object, usd: string | null];
const rows: Row[] = [
  // $5, $25, $0.50 read, $6.25 and $10 written
  ['Anthropic: five minutes', 'anthropic', 'claude-opus-4-5', anthropic(hour(2_000, 0)), '0.01555'],
  ['Anthropic: an hour', 'anthropic', 'claude-opus-4-5', anthropic(hour(0, 2_000)), '0.02305'],
  ['Anthropic: both', 'anthropic', 'claude-opus-4-5', anthropic(hour(1_000, 1_000)), '0.0193'],
  [
    'Anthropic: an hour in a long context',
    'anthropic',
    'claude-sonnet-4-5',
    anthropic({ ...hour(0, 100_000), input_tokens: 150_000 }),
    // $6, $22.50, $0.60 and $12 beyond 200,000
    '2.10285',
  ],
  [
    'Anthropic: contradicting counts',
    'anthropic',
    'claude-opus-4-5',
    anthropic({ ...hour(0, 2_000), cache_creation_input_tokens: 10 }),
    null,
  ],
  [
    'Anthropic: fast mode',
    'anthropic',
    'claude-opus-4-6',
    anthropic({ input_tokens: 1, output_tokens: 1, speed: 'fast' }),
    null,
  ],
  [
    'Anthropic: a search',
    'anthropic',
    'claude-opus-4-5',
    anthropic({ input_tokens: 1, output_tokens: 1, server_tool_use: { web_search_requests: 1 } }),
    null,
  ],
  [
    'Bedrock: an hour, which the list does not have',
    'bedrock',
    'amazon.nova-pro-v1:0',
    bedrock({
      ...{ inputTokens: 10, outputTokens: 1, totalTokens: 111, cacheWriteInputTokens: 100 },
      cacheDetails: [{ ttl: '1h', inputTokens: 100 }],
    }),
    null,
  ],
  // $4 and $16, audio $32 and $64
  [
    'OpenAI: audio',
    'openai',
    'gpt-realtime',
    openai({
      ...spoken,
      prompt_tokens_details: { audio_tokens: 400 },
      completion_tokens_details: { audio_tokens: 60 },
    }),
    '0.01968',
  ],
  [
    'OpenAI: audio, under the names of both APIs',
    'openai',
    'gpt-realtime',
    openai({
      ...spoken,
      ...{
        prompt_tokens_details: { audio_tokens: 400 },
        input_tokens_details: { audio_tokens: 400 },
      },
      completion_tokens_details: { audio_tokens: 60 },
      output_tokens_details: { audio_tokens: 60 },
    }),
    '0.01968',
  ],
  [
    'OpenAI: audio, under the name of one API of both',
    'openai',
    'gpt-realtime',
    openai({
      ...spoken,
      ...{
        prompt_tokens_details: { cached_tokens: 0 },
        input_tokens_details: { audio_tokens: 400 },
      },
      completion_tokens_details: { audio_tokens: 60 },
      output_tokens_details: { audio_tokens: 0 },
    }),
    '0.01968',
  ],
  [
    'OpenAI: audio, of which an unknown part was cached',
    'openai',
    'gpt-realtime',
    openai({ ...spoken, prompt_tokens_details: { audio_tokens: 400, cached_tokens: 100 } }),
    null,
  ],
  [
    'OpenAI: audio without a rate',
    'openai',
    'gpt-4o-audio-preview',
    openai({ ...spoken, prompt_tokens_details: { audio_tokens: 400 } }),
    null,
  ],
  [
    'OpenAI: images without a rate',
    'openai',
    'gpt-4o-mini',
    openai({ ...spoken, prompt_tokens_details: { image_tokens: 400 } }),
    null,
  ],
  [
    'OpenAI: neither',
    'openai',
    'gpt-4o-mini',
    openai({ ...spoken, prompt_tokens_details: { audio_tokens: 0, cached_tokens: 0 } }),
    '0.00021',
  ],
  [
    'OpenAI: a cheaper tier',
    'openai',
    'gpt-4o-mini',
    openai(spoken, { service_tier: 'flex' }),
    null,
  ],
  [
    'OpenAI: the usual tier',
    'openai',
    'gpt-4o-mini',
    openai(spoken, { service_tier: 'default' }),
    '0.00021',
  ],
  // $0.30 and $2.50, audio $1, cached $0.03 and $0.10
  [
    'Google: audio',
    'google',
    'gemini-2.5-flash',
    google({
      promptTokenCount: 1_000,
      candidatesTokenCount: 100,
      promptTokensDetails: modal('AUDIO', 400, 600),
    }),
    '0.00083',
  ],
  [
    'Google: audio, partly cached',
    'google',
    'gemini-2.5-flash',
    google({
      ...{ promptTokenCount: 1_000, candidatesTokenCount: 100, cachedContentTokenCount: 500 },
      promptTokensDetails: modal('AUDIO', 400, 600),
      cacheTokensDetails: modal('AUDIO', 300, 200),
    }),
    // 400 texts, 200 cached ones, 100 audio, 300 cached
    '0.000506',
  ],
  [
    'Google: images that are read',
    'google',
    'gemini-2.5-flash',
    google({
      promptTokenCount: 1_000,
      candidatesTokenCount: 100,
      promptTokensDetails: modal('IMAGE', 258, 742),
    }),
    '0.00055',
  ],
  // $0.30 and $2.50, images $30
  [
    'Google: an image that is written',
    'google',
    'gemini-2.5-flash-image',
    google({
      promptTokenCount: 100,
      candidatesTokenCount: 1_300,
      candidatesTokensDetails: modal('IMAGE', 1_290, 10),
    }),
    '0.038755',
  ],
  [
    'Google: an image without a rate',
    'google',
    'gemini-2.5-flash',
    google({
      promptTokenCount: 100,
      candidatesTokenCount: 1_300,
      candidatesTokensDetails: modal('IMAGE', 1_290, 10),
    }),
    null,
  ],
];

async function costOf(kind: ProviderKind, model: string, body: object, price: Price | null = null) {
  fake.script({ status: 200, body });
  const apiKey = kind === 'bedrock' ? 'ABSK-0123456789' : 'key';
  return (await askModel(fake, { kind, apiKey }, { model: `fake/${model}`, price })).cost;
}

describe('by the price list', () => {
  for (const [name, kind, model, body, usd] of rows) {
    test(name, async () => {
      const found = await costOf(kind, model, body);
      const expected =
        usd === null ? { usd: '0', known: false } : { usd, known: true, source: 'table' };
      assert.deepEqual(found, expected);
    });
  }
});

describe('by a price of the workspace, which has one rate for each direction', () => {
  const price = {
    ...{ inputPerMillion: '1', outputPerMillion: '2' },
    ...{ cacheReadPerMillion: '0.1', cacheWritePerMillion: '1.25' },
  };
  const free = {
    ...price,
    inputPerMillion: '0',
    outputPerMillion: '0',
    cacheReadPerMillion: '0',
    cacheWritePerMillion: '0',
  };
  const unknown: [string, ProviderKind, object][] = [
    ['one-hour cache writes', 'anthropic', anthropic(hour(0, 2_000))],
    [
      'one-hour cache writes behind LiteLLM',
      'openai-compatible',
      openai({
        ...spoken,
        cache_creation_input_tokens: 500,
        prompt_tokens_details: {
          cache_creation_tokens: 500,
          cache_creation_token_details: { ephemeral_1h_input_tokens: 500 },
        },
      }),
    ],
    [
      'audio that is heard',
      'openai',
      openai({ ...spoken, prompt_tokens_details: { audio_tokens: 4 } }),
    ],
    [
      'audio that is spoken',
      'openai',
      openai({ ...spoken, completion_tokens_details: { audio_tokens: 4 } }),
    ],
    [
      'images',
      'google',
      google({
        promptTokenCount: 1_000,
        candidatesTokenCount: 1,
        promptTokensDetails: modal('IMAGE', 258, 742),
      }),
    ],
  ];
  for (const [name, kind, body] of unknown) {
    test(`the cost of ${name} is unknown, unless all is free`, async () => {
      assert.deepEqual(await costOf(kind, 'm', body, price), { usd: '0', known: false });
      assert.equal((await costOf(kind, 'm', body, free)).known, true);
    });
  }

  test('five-minute writes have it', async () => {
    const { usd } = await costOf('anthropic', 'm', anthropic(hour(2_000, 0)), price);
    assert.equal(usd, '0.00281');
  });
});
