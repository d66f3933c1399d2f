import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { askModel, failedModel } from '../../../harness/ask-model.ts';
import { startFakeProvider } from '../../../harness/fake-provider.ts';
import { type AnswerDetails, noDetails } from '../../../src/core/model/model-port.ts';
import type { ProviderKind } from '../../../src/core/model/provider.ts';

/** What providers say beside the text: reasoning, refusals, names and ids; and answers without a text. */

const fake = await startFakeProvider();
after(fake.close);

const usage: object = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };
const price = {
  ...{ inputPerMillion: '1', outputPerMillion: '2' },
  ...{ cacheReadPerMillion: null, cacheWritePerMillion: null },
};

function chat(message: object = {}, finish_reason = 'stop', counts = usage) {
  const whole = { role: 'assistant', content: 'Hello.', ...message };
  return {
    id: 'c-1',
    created: 1,
    model: 'm-2',
    choices: [{ index: 0, message: whole, finish_reason }],
    usage: counts,
  };
}
const named = { modelAnswered: 'm-2', providerRequestId: 'c-1' };
const call = { id: 'c', type: 'function', function: { name: 'search', arguments: '{}' } };

const anthropic = (content: object[], more: object = {}) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-x', content },
  ...{ stop_reason: 'end_turn', usage: { input_tokens: 10, output_tokens: 5 } },
  ...more,
});
const google = (candidate: object, more: object = {}) => ({
  candidates: [{ finishReason: 'STOP', index: 0, ...candidate }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, thoughtsTokenCount: 50, ...more },
  ...{ modelVersion: 'gemini-x', responseId: 'g-1' },
});

type Kept = [
  name: string,
  kind: ProviderKind,
  body: object,
  text: string,
  Partial<AnswerDetails>,
  headers?: Record<string, string>,
];
const kept: Kept[] = [
  ['no more than a name', 'openai-compatible', chat(), 'Hello.', named],
  [
    'a header x-request-id',
    'openai-compatible',
    chat(),
    'Hello.',
    { ...named, providerRequestId: 'r-1' },
    { 'x-request-id': 'r-1' },
  ],
  [
    'a header request-id',
    'anthropic',
    anthropic([{ type: 'text', text: 'Hi' }]),
    'Hi',
    { modelAnswered: 'claude-x', providerRequestId: 'r-2' },
    { 'request-id': 'r-2' },
  ],
  [
    'reasoning_content',
    'openai-compatible',
    chat({ reasoning_content: 'hm' }),
    'Hello.',
    { ...named, reasoningText: 'hm' },
  ],
  ['reasoning', 'openai', chat({ reasoning: 'hm' }), 'Hello.', { ...named, reasoningText: 'hm' }],
  [
    'reasoning details',
    'openai',
    chat({
      reasoning_details: [{ type: 'reasoning.text', text: 'hm' }, { type: 'reasoning.encrypted' }],
    }),
    'Hello.',
    { ...named, reasoningText: 'hm' },
  ],
  [
    'reasoning as object',
    'openai',
    chat({ reasoning: { text: 'hm' } }),
    'Hello.',
    { ...named, reasoningText: 'hm' },
  ],
  [
    'parts that think',
    'openai-compatible',
    chat({
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
        { type: 'text', text: 'Two.' },
      ],
    }),
    'Two.',
    { ...named, reasoningText: 'hm' },
  ],
  [
    'a <think> block',
    'openai-compatible',
    chat({ content: '<think>\nhm\n</think>\n\n{"a":1}' }),
    '{"a":1}',
    { ...named, reasoningText: 'hm' },
  ],
  [
    'two <think> blocks',
    'openai',
    chat({ content: '<think>a</think><think>b</think> Hi' }),
    'Hi',
    { ...named, reasoningText: 'ab' },
  ],
  [
    'the end of a <think> block',
    'openai-compatible',
    chat({ content: 'hm, {"a":2}?\n</think>\n\n{"a":1}' }),
    '{"a":1}',
    { ...named, reasoningText: 'hm, {"a":2}?' },
  ],
  ['the end of an empty block', 'openai', chat({ content: '\n</think>\n\nHi' }), 'Hi', named],
  [
    'an answer about </think>',
    'openai',
    chat({ content: 'It ends with </think>.' }),
    'It ends with </think>.',
    named,
  ],
  [
    'an answer with </think> in an example',
    'openai',
    chat({ content: 'So:\n```\n</think>\n```\nEnd.' }),
    'So:\n```\n</think>\n```\nEnd.',
    named,
  ],
  [
    'reasoning beside and </think>',
    'openai',
    chat({ content: 'Use:\n</think>\nthen go', reasoning: 'hm' }),
    'Use:\n</think>\nthen go',
    { ...named, reasoningText: 'hm' },
  ],
  [
    'an answer with a block',
    'openai',
    chat({ content: 'So:\n<think>\nx\n</think>\nEnd.' }),
    'So:\n<think>\nx\n</think>\nEnd.',
    named,
  ],
  ['an empty <think> block', 'openai', chat({ content: '<think>\n\n</think>\n\nHi' }), 'Hi', named],
  [
    'an answer about <think>',
    'openai',
    chat({ content: 'Use <think>x</think>.' }),
    'Use <think>x</think>.',
    named,
  ],
  [
    'reasoning tokens',
    'openai-compatible',
    chat({}, 'stop', { ...usage, completion_tokens_details: { reasoning_tokens: 4 } }),
    'Hello.',
    { ...named, reasoningTokens: 4 },
  ],
  [
    'thinking of Anthropic',
    'anthropic',
    anthropic([
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'text', text: 'Hi' },
    ]),
    'Hi',
    { reasoningText: 'hm', modelAnswered: 'claude-x', providerRequestId: 'msg_1' },
  ],
  [
    'thoughts of Google',
    'google',
    google({ content: { parts: [{ text: 'hm', thought: true }, { text: 'Paris' }] } }),
    'Paris',
    {
      reasoningText: 'hm',
      reasoningTokens: 50,
      modelAnswered: 'gemini-x',
      providerRequestId: 'g-1',
    },
  ],
];

const none = { reasoningText: null, reasoningTokens: null, refusalText: null };

describe('an answer with', () => {
  for (const [name, kind, body, text, details, headers = {}] of kept) {
    test(name, async () => {
      fake.script({ status: 200, body, headers });
      const answer = await askModel(fake, { kind });
      assert.equal(answer.text, text);
      const { providerFinishReason: _, ...given } = answer.details ?? noDetails;
      assert.deepEqual(given, { ...none, ...details });
    });
  }
});

type Failed = [
  name: string,
  kind: ProviderKind,
  body: object,
  code: string,
  Partial<AnswerDetails>,
  finish?: string,
];
const failed: Failed[] = [
  [
    'only reasoning',
    'openai-compatible',
    chat({ content: '', reasoning_content: 'hm' }),
    'EMPTY_OUTPUT',
    { reasoningText: 'hm' },
  ],
  [
    'only reasoning, cut',
    'openai',
    chat({ content: null, reasoning: 'hm' }, 'length'),
    'EMPTY_OUTPUT',
    { reasoningText: 'hm' },
    'length',
  ],
  [
    'an open <think> block',
    'openai',
    chat({ content: '<think>hm' }, 'length'),
    'EMPTY_OUTPUT',
    { reasoningText: 'hm' },
    'length',
  ],
  ['nothing', 'openai-compatible', chat({ content: '' }), 'EMPTY_OUTPUT', {}],
  ['null', 'openai', chat({ content: null }), 'EMPTY_OUTPUT', {}],
  ['blanks', 'openai', chat({ content: ' \n' }), 'EMPTY_OUTPUT', {}],
  ['no choice', 'openai-compatible', { ...chat(), choices: [] }, 'EMPTY_OUTPUT', {}],
  ['no choice', 'openai', { ...chat(), choices: [] }, 'EMPTY_OUTPUT', {}],
  [
    'a tool call',
    'openai-compatible',
    chat({ content: null, tool_calls: [call] }, 'tool_calls'),
    'EMPTY_OUTPUT',
    {},
    'tool-calls',
  ],
  [
    'a refusal',
    'openai-compatible',
    chat({ content: null, refusal: 'I cannot.' }),
    'CONTENT_FILTERED',
    { refusalText: 'I cannot.' },
    'content-filter',
  ],
  [
    'a refusal beside an empty text',
    'openai',
    chat({ content: '', refusal: 'I cannot.' }),
    'CONTENT_FILTERED',
    { refusalText: 'I cannot.' },
    'content-filter',
  ],
  [
    'a filter',
    'openai',
    chat({ content: '' }, 'content_filter'),
    'CONTENT_FILTERED',
    {},
    'content-filter',
  ],
  [
    'a filter and no message',
    'openai-compatible',
    { ...chat(), choices: [{ index: 0, finish_reason: 'content_filter' }] },
    'CONTENT_FILTERED',
    {},
    'content-filter',
  ],
];

describe('an answer without a text', () => {
  for (const [name, kind, body, code, details, finish = 'stop'] of failed) {
    test(name, async () => {
      fake.script({ status: 200, body });
      const failure = await failedModel(fake, { kind }, { price });
      assert.deepEqual([failure.code, failure.finishReason], [code, finish]);
      assert.equal(failure.retryable, code === 'EMPTY_OUTPUT');
      const { providerFinishReason: _, ...given } = failure.details;
      assert.deepEqual(given, { ...none, ...named, ...details });
      assert.deepEqual([failure.usage.inputTokens, failure.usage.outputTokens], [12, 5]);
      assert.equal(failure.cost.usd, '0.000022');
    });
  }

  const others: [
    name: string,
    kind: ProviderKind,
    body: object,
    code: string,
    refusalText: string | null,
  ][] = [
    ['no part of Google', 'google', google({ content: {} }), 'EMPTY_OUTPUT', null],
    [
      'a cut answer of Google',
      'google',
      google({ content: { role: 'model' }, finishReason: 'MAX_TOKENS' }),
      'EMPTY_OUTPUT',
      null,
    ],
    [
      'a recitation of Google',
      'google',
      google({ finishReason: 'RECITATION' }),
      'CONTENT_FILTERED',
      null,
    ],
    [
      'a refusal of Anthropic',
      'anthropic',
      anthropic([], {
        stop_reason: 'refusal',
        stop_details: { type: 'refusal', explanation: 'No.' },
      }),
      'CONTENT_FILTERED',
      'No.',
    ],
    [
      'a guardrail of Bedrock',
      'bedrock',
      {
        output: { message: { role: 'assistant', content: [{ text: 'Sorry, blocked.' }] } },
        ...{
          stopReason: 'guardrail_intervened',
          usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
        },
      },
      'CONTENT_FILTERED',
      'Sorry, blocked.',
    ],
  ];
  for (const [name, kind, body, code, refusalText] of others) {
    test(name, async () => {
      fake.script({ status: 200, body });
      const failure = await failedModel(fake, { kind });
      assert.deepEqual([failure.code, failure.details.refusalText], [code, refusalText]);
    });
  }
});

test('an error keeps the id of its request', async () => {
  const body = { error: { message: 'no' } };
  fake.script(
    { status: 400, body, headers: { 'x-request-id': 'r-3' } },
    { status: 400, body: { ...body, request_id: 'r-4' } },
    { status: 200, body: 'no JSON', headers: { 'request-id': 'r-5' } },
  );
  for (const id of ['r-3', 'r-4', 'r-5']) {
    assert.equal((await failedModel(fake)).details.providerRequestId, id);
  }
  fake.script({ status: 429, body, headers: { 'x-request-id': 'r-6' } });
  const { rejected, details } = await failedModel(fake);
  assert.deepEqual([rejected, details.providerRequestId], [true, 'r-6']);
});
