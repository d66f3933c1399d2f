import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { askModel, failedModel } from '../../harness/ask-model.ts';
import { startFakeProvider } from '../../harness/fake-provider.ts';

/** Answers that real providers and gateways send: whatever else is odd, a text that can be read is kept. */

const fake = await startFakeProvider();
after(fake.close);

const usage: unknown = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };

/** A chat completion with the given fields of its choice, of its message, and of itself. */
function chat(choice: object = {}, message: object = {}, more: object = {}) {
  const whole = { role: 'assistant', content: 'Hello.', ...message };
  return {
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1_764_000_000, model: 'm' },
    choices: [{ index: 0, message: whole, finish_reason: 'stop', logprobs: null, ...choice }],
    usage,
    ...more,
  };
}

const withUsage = (given: unknown) => chat({}, {}, { usage: given });
const withMessage = (message: object) => chat({}, message);
const text = JSON.stringify;
const events = (...chunks: object[]) =>
  `${chunks.map((chunk) => `data: ${text(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
const delta = (fields: object, finish_reason: string | null = null) => ({
  id: 'a',
  choices: [{ index: 0, delta: fields, finish_reason }],
});

interface Row {
  readonly body: object | string | Buffer;
  readonly headers?: Record<string, string>;
  readonly is?: string;
  /** Input and output tokens; null if unknown. */
  readonly tokens?: [number, number] | null;
  readonly finish?: string;
}

const rows: Record<string, Row> = {
  'role model': { body: withMessage({ role: 'model' }) },
  'a comment behind the JSON': { body: `${text(chat())}\n\n<!-- cache: miss -->` },
  'role missing': { body: withMessage({ role: undefined }) },
  'created as text': { body: chat({}, {}, { created: '2025-11-25T00:00:00Z' }) },
  'id as number': { body: chat({}, {}, { id: 7, model: 8 }) },
  'index missing': { body: chat({ index: undefined }) },
  'finish reason as number': { body: chat({ finish_reason: 1 }), finish: 'other' },
  'finish reason as object': { body: chat({ finish_reason: { type: 'stop' } }) },
  'finish reason as list': { body: chat({ finish_reason: ['stop'] }), finish: 'other' },
  'finish reason null': { body: chat({ finish_reason: null }), finish: 'other' },
  'finish reason unknown': { body: chat({ finish_reason: 'repetition' }), finish: 'other' },
  'finish reason in capitals': { body: chat({ finish_reason: 'STOP' }) },
  'finish reason MAX_TOKENS': { body: chat({ finish_reason: 'MAX_TOKENS' }), finish: 'length' },
  'finish reason max_output_tokens': {
    body: chat({ finish_reason: 'max_output_tokens' }),
    finish: 'length',
  },
  'finish reason eos': { body: chat({ finish_reason: 'eos' }) },
  'finish reason pause_turn': { body: chat({ finish_reason: 'pause_turn' }), finish: 'other' },
  'log probabilities as text': { body: chat({ logprobs: 'none' }) },
  'annotations of another kind': { body: withMessage({ annotations: [{ type: 'file' }] }) },
  'annotations as object': { body: withMessage({ annotations: {} }) },
  'refusal as false': { body: withMessage({ refusal: false }) },
  'reasoning as object': { body: withMessage({ reasoning: { text: 'hm' } }) },
  'reasoning as list': { body: withMessage({ reasoning_content: [{ type: 'text', text: 'hm' }] }) },
  'tool arguments as object': {
    body: withMessage({
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: { a: 1 } } }],
    }),
  },
  'tool calls as object': { body: withMessage({ tool_calls: {} }) },
  'content as parts': {
    body: withMessage({
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'Fast.' }], closed: true },
        { type: 'text', text: 'Hello' },
        { type: 'reference', reference_ids: [1] },
        { type: 'text', text: '.' },
      ],
    }),
  },
  'content as parts of the Responses API': {
    body: withMessage({ content: [{ type: 'output_text', text: 'Hello.' }] }),
  },
  'content as list of texts': { body: withMessage({ content: ['Hello', '.'] }) },
  'content as object': { body: withMessage({ content: { type: 'text', text: 'Hello.' } }) },
  'content as data': {
    body: withMessage({ content: { a: 1 } }),
    is: '{"a":1}',
  },
  'content as message': { body: withMessage({ content: { role: 'model', content: 'Hello.' } }) },
  'content as number': { body: withMessage({ content: 42 }), is: '42' },
  'a choice with a text': {
    body: { id: 'x', choices: [{ text: 'Hello.', finish_reason: 'stop' }], usage },
  },
  'a choice with a delta': { body: chat({ message: undefined, delta: { content: 'Hello.' } }) },
  'choices by index': { body: { ...chat(), choices: { 0: chat().choices[0] } } },
  'choices as object': { body: { ...chat(), choices: chat().choices[0] } },
  'citations beside': { body: chat({}, {}, { citations: ['https://example.com/a'] }) },
  'usage of numbers as text': { body: withUsage({ prompt_tokens: '12', completion_tokens: '5' }) },
  'usage of words': {
    body: withUsage({ prompt_tokens: 'many', completion_tokens: 5 }),
    tokens: null,
  },
  'usage as list': { body: withUsage([12, 5]), tokens: null },
  'usage as text': { body: withUsage('17'), tokens: null },
  'usage as number': { body: withUsage(17), tokens: null },
  'usage with lists': {
    body: withUsage({ prompt_tokens: [12], completion_tokens: 5 }),
    tokens: null,
  },
  'usage null': { body: withUsage(null), tokens: null },
  'usage missing': { body: withUsage(undefined), tokens: null },
  'usage partial': { body: withUsage({ prompt_tokens: 12 }), tokens: null },
  'usage negative': { body: withUsage({ prompt_tokens: -1, completion_tokens: 5 }), tokens: null },
  'usage NaN': { body: text(chat()).replace('12', 'NaN'), tokens: null },
  'usage Infinity': { body: text(chat()).replace('12', '-Infinity'), tokens: null },
  'NaN elsewhere': { body: text(chat()).replace('1764000000', 'NaN') },
  'a raw line break': {
    body: text(withMessage({ content: 'a#b NaN' })).replace('#', '\n'),
    is: 'a\nb NaN',
  },
  'a raw tab and an escape': {
    body: text(withMessage({ content: 'a#"b\\' })).replace('#', '\t'),
    is: 'a\t"b\\',
  },
  'an escape that JSON does not have': {
    body: text(withMessage({ content: "a#_#T#U00e9#'#\\c\n" })).replaceAll('#', '\\'),
    is: "a\\_\\T\\U00e9'\\\\c\n",
  },
  'a byte order mark': { body: Buffer.from(`\ufeff${text(chat())}`) },
  'blank lines before': { body: `\n\n\r\n${text(chat())}` },
  'comments before': {
    body: `: OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n${text(chat())}`,
  },
  'a key named __proto__': { body: text(chat()).replace('{', '{"__proto__":{"a":1},') },
  'a content with __proto__': {
    body: withMessage({ content: '{"__proto__":{}}' }),
    is: '{"__proto__":{}}',
  },
  'plain text as type': { body: text(chat()), headers: { 'content-type': 'text/plain' } },
  'bytes as type': { body: text(chat()), headers: { 'content-type': 'application/octet-stream' } },
  gzip: { body: gzipSync(text(chat())), headers: { 'content-encoding': 'gzip' } },
  br: { body: brotliCompressSync(text(chat())), headers: { 'content-encoding': 'br' } },
  zstd: { body: zstdCompressSync(text(chat())), headers: { 'content-encoding': 'zstd' } },
  'UTF-8 as encoding': { body: chat(), headers: { 'content-encoding': 'UTF-8' } },
  'an event stream': {
    body: events(
      delta({ role: 'assistant', content: 'Hel' }),
      delta({ role: 'assistant', content: 'lo.' }),
      delta({}, 'stop'),
      { id: 'a', choices: [], usage },
    ),
    headers: { 'content-type': 'text/event-stream' },
  },
  'an event stream without usage': {
    body: events(delta({ content: 'Hello.' }), delta({}, 'stop')),
    tokens: null,
  },
  'an event stream with comments and CRLF': {
    body: `: ping\r\n\r\nevent: x\r\ndata: ${text(delta({ content: 'Hello.' }))}\r\n\r\n: ping\r\n\r\ndata: ${text({ ...delta({}, 'stop'), usage })}\r\n\r\n`,
  },
  'an event stream of one whole completion': { body: events(chat()) },
};

describe('an answer is kept with', () => {
  for (const [
    name,
    { body, headers, is = 'Hello.', tokens = [12, 5], finish = 'stop' },
  ] of Object.entries(rows)) {
    test(name, async () => {
      for (const kind of ['openai-compatible', 'openai'] as const) {
        const before = fake.calls.length;
        fake.script({ status: 200, body, ...(headers && { headers }) });
        const answer = await askModel(fake, { kind }, { price });
        assert.deepEqual([answer.text, answer.finishReason], [is, finish]);
        const { inputTokens, outputTokens } = answer.usage;
        assert.deepEqual([inputTokens, outputTokens], tokens ?? [0, 0]);
        assert.equal(answer.cost.known, tokens !== null);
        assert.equal(fake.calls.length, before + 1);
      }
    });
  }
});

const price = {
  ...{ inputPerMillion: '1', outputPerMillion: '2' },
  ...{ cacheReadPerMillion: null, cacheWritePerMillion: null },
};

describe('an answer of another API is kept with', () => {
  const anthropic = (more: object) => ({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm' },
    ...{ content: [{ type: 'text', text: 'Hello.' }], stop_reason: 'end_turn' },
    ...{ usage: { input_tokens: 12, output_tokens: 5 } },
    ...more,
  });
  const google = (more: object) => ({
    candidates: [{ content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 5 },
    ...more,
  });
  const stream = [
    { type: 'message_start', message: anthropic({ content: [], stop_reason: null }) },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ];
  const bedrock = (more: object) => ({
    output: { message: { role: 'assistant', content: [{ text: 'Hello.' }] } },
    ...{ stopReason: 'end_turn', usage: { inputTokens: 12, outputTokens: 5, totalTokens: 17 } },
    ...more,
  });
  type Cases = [
    name: string,
    kind: 'anthropic' | 'google' | 'bedrock',
    body: object | string,
    known: boolean,
  ][];
  const cases: Cases = [
    [
      'usage of texts',
      'anthropic',
      anthropic({ usage: { input_tokens: '12', output_tokens: '5' } }),
      true,
    ],
    [
      'usage of words',
      'anthropic',
      anthropic({ usage: { input_tokens: 'a', output_tokens: 5 } }),
      false,
    ],
    ['usage as list', 'anthropic', anthropic({ usage: [] }), false],
    ['no usage', 'anthropic', anthropic({ usage: undefined }), false],
    ['a content as text', 'anthropic', anthropic({ content: 'Hello.' }), true],
    ['a model as number', 'anthropic', anthropic({ model: 4 }), true],
    ['another role', 'anthropic', anthropic({ role: 'model' }), true],
    [
      'an unknown block',
      'anthropic',
      anthropic({ content: [{ type: 'oracle' }, { type: 'text', text: 'Hello.' }] }),
      true,
    ],
    [
      'events',
      'anthropic',
      stream.map((each) => `event: ${each.type}\ndata: ${text(each)}\n\n`).join(''),
      true,
    ],
    ['usage as list', 'google', google({ usageMetadata: [] }), false],
    [
      'usage of texts',
      'google',
      google({ usageMetadata: { promptTokenCount: '12', candidatesTokenCount: '5' } }),
      true,
    ],
    [
      'a finish reason as number',
      'google',
      google({ candidates: [{ content: { parts: [{ text: 'Hello.' }] }, finishReason: 1 }] }),
      true,
    ],
    [
      'events',
      'google',
      events(
        { candidates: [{ content: { role: 'model', parts: [{ text: 'Hel' }] } }] },
        google({ candidates: [{ content: { parts: [{ text: 'lo.' }] }, finishReason: 'STOP' }] }),
      ),
      true,
    ],
    ['latency as text', 'bedrock', bedrock({ metrics: { latencyMs: 'ten' } }), true],
    ['usage as list', 'bedrock', bedrock({ usage: [] }), false],
    ['a raw line break', 'bedrock', text(bedrock({ trace: 'a#b' })).replace('#', '\n'), true],
  ];
  for (const [name, kind, body, known] of cases) {
    test(`${kind}: ${name}`, async () => {
      fake.script({ status: 200, body });
      const answer = await askModel(fake, { kind }, { price });
      assert.deepEqual([answer.text, answer.cost.known], ['Hello.', known]);
      if (known) {
        assert.deepEqual([answer.usage.inputTokens, answer.usage.outputTokens], [12, 5]);
      }
    });
  }
});

test('an error in a choice without message is that of the provider', async () => {
  const error = { code: 429, message: 'Rate limit exceeded' };
  for (const body of [
    { ...chat(), choices: [{ index: 0, error }] },
    { ...chat(), choices: [{ index: 0 }], error },
  ]) {
    fake.script({ status: 200, body });
    const failure = await failedModel(fake, { kind: 'openai-compatible' });
    assert.deepEqual([failure.code, failure.retryable], ['PROVIDER_RATE_LIMITED', true]);
    assert.match(failure.message, /Rate limit exceeded/);
  }
});

describe('an answer that cannot be read names its field and is not retried', () => {
  const cases: [name: string, body: object | string, field: string][] = [
    ['a page', '<!DOCTYPE html><html><title>Sign in</title></html>', 'body'],
    ['an empty body', '', 'body'],
    ['half of it', '{"choices": [{"message": {"role": "assi', 'body'],
    ['a text', '"Hello"', 'body'],
    ['choices as text', { ...chat(), choices: 'none' }, 'choices'],
    ['an object without choices', { id: 'x' }, 'choices'],
    ['no choices as object', { ...chat(), choices: {} }, 'choices'],
    ['a choice of nothing', { ...chat(), choices: [{}] }, 'choices[0].message'],
    ['a choice without message', { ...chat(), choices: [{ index: 0 }] }, 'choices[0].message'],
    [
      'a choice of nulls',
      { ...chat(), choices: [{ message: null, finish_reason: null }] },
      'choices[0].message',
    ],
    ['an event that is not JSON', 'data: {"choices":[{"del\n\n', 'body'],
  ];
  for (const [name, body, field] of cases) {
    test(name, async () => {
      for (const kind of ['openai-compatible', 'openai'] as const) {
        const before = fake.calls.length;
        fake.script({ status: 200, body });
        const failure = await failedModel(fake, { kind });
        assert.deepEqual(
          [failure.code, failure.retryable, failure.cost.known, failure.unreadableField],
          ['PROVIDER_ERROR', false, false, field],
        );
        assert.match(
          failure.message,
          field === 'body'
            ? /it is not JSON\. Is the base URL right\?$/
            : /its field choices\S* has /,
        );
        assert.equal(fake.calls.length, before + 1);
      }
    });
  }
});
