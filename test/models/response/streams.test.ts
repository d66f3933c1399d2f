import assert from 'node:assert/strict';
import dns from 'node:dns';
import { after, describe, mock, test } from 'node:test';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { askModel, failedModel } from '../../../harness/ask-model.ts';
import { type Step, startFakeProvider } from '../../../harness/fake-provider.ts';
import type { ModelEvent, ModelFailure } from '../../../src/core/model/model-port.ts';
import type { ProviderSettings } from '../../../src/models/connection/settings.ts';

/** Streamed calls of every kind of provider on the wire: what arrives, in which pieces, and what cuts it. */

const fake = await startFakeProvider();
after(fake.close);

mock.method(dns, 'lookup', (_name: string, options: { all?: boolean }, done: Found) =>
  options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4),
);
type Found = (error: null, address: string | object[], family?: number) => void;

const price = {
  ...{ inputPerMillion: '1', outputPerMillion: '2' },
  ...{ cacheReadPerMillion: null, cacheWritePerMillion: null },
};
const json = JSON.stringify;
const sse = (events: readonly object[]) =>
  events.map((event) => `event: x\r\ndata: ${json(event)}\r\n\r\n`);
const lines = (values: readonly object[]) => values.map((value) => `${json(value)}\n`);

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString()),
  (text) => Buffer.from(text),
);
function awsFrame(kind: 'event' | 'exception', name: string, body: object): Uint8Array {
  const header = (value: string) => ({ type: 'string', value }) as const;
  return codec.encode({
    headers: { ':message-type': header(kind), [`:${kind}-type`]: header(name) },
    body: Buffer.from(json(body)),
  });
}
const aws = (events: readonly object[]) =>
  events.map((event) => awsFrame('event', ...(Object.entries(event)[0] as [string, object])));

/** An answer in the stream of a kind, the text in two pieces, the second cutting a surrogate pair. */
interface Kind {
  readonly settings: Partial<ProviderSettings>;
  readonly path: RegExp;
  /** Fields of the request that ask for the stream. */
  readonly asks: object;
  /** Up to the end of the text, then the events that end the answer. */
  readonly begin: readonly (string | Uint8Array)[];
  readonly end: readonly (string | Uint8Array)[];
  readonly headers?: Record<string, string>;
  readonly reasoning: string | null;
}

const first = 'Hel';
const [second, third] = ['lo \ud83d', '\ude42.'];
const whole = first + second + third;
const delta = (fields: object, finish_reason: string | null = null) => ({
  ...{ id: 'c-1', model: 'm-2', created: 1, object: 'chat.completion.chunk' },
  choices: [{ index: 0, delta: fields, finish_reason }],
});
const usage = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };
const chatBegin = [
  delta({ role: 'assistant', content: '', reasoning_content: 'Hm.' }),
  ...[first, second, third].map((content) => delta({ content })),
];
const chatEnd = [
  ...sse([delta({}, 'stop'), { id: 'c-1', choices: [], usage }]),
  'data: [DONE]\r\n\r\n',
];
const response = {
  ...{ id: 'resp_1', object: 'response', created_at: 1, model: 'm-2', error: null },
  incomplete_details: null,
};
const output = [
  { type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: 'Hm.' }] },
  {
    ...{ type: 'message', id: 'msg', role: 'assistant', status: 'completed' },
    content: [{ type: 'output_text', text: whole, annotations: [] }],
  },
];
const bedrockHeaders = { 'content-type': 'application/vnd.amazon.eventstream' };

const kinds: Record<string, Kind> = {
  'openai-compatible': {
    settings: {},
    path: /^\/v1\/chat\/completions$/,
    asks: { stream: true, stream_options: { include_usage: true } },
    begin: sse(chatBegin),
    end: chatEnd,
    reasoning: 'Hm.',
  },
  'openai, Responses API': {
    settings: { kind: 'azure', baseURL: 'http://fake.azure.com/openai/v1' },
    path: /^\/openai\/v1\/responses/,
    asks: { stream: true, store: false },
    begin: sse([
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
      { type: 'response.reasoning_summary_text.delta', item_id: 'rs', delta: 'Hm.' },
      ...[first, second, third].map((text) => ({
        ...{ type: 'response.output_text.delta', item_id: 'msg', delta: text },
      })),
    ]),
    end: sse([
      {
        type: 'response.completed',
        response: {
          ...{ ...response, status: 'completed', output },
          usage: { input_tokens: 12, output_tokens: 5, total_tokens: 17 },
        },
      },
    ]),
    reasoning: 'Hm.',
  },
  anthropic: {
    settings: { kind: 'anthropic' },
    path: /^\/v1\/messages$/,
    asks: { stream: true },
    begin: sse([
      {
        type: 'message_start',
        message: {
          ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm-2', content: [] },
          ...{ stop_reason: null, usage: { input_tokens: 12, output_tokens: 1 } },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 's' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'ping' },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      ...[first, second, third].map((text) => ({
        ...{ type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text } },
      })),
    ]),
    end: sse([
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ]),
    reasoning: 'Hm.',
  },
  google: {
    settings: { kind: 'google' },
    path: /^\/v1\/models\/m:streamGenerateContent\?alt=sse$/,
    asks: {},
    begin: sse([
      { candidates: [{ content: { parts: [{ text: 'Hm.', thought: true }] } }] },
      ...[first, second, third].map((text) => ({
        candidates: [{ content: { role: 'model', parts: [{ text }] } }],
      })),
    ]),
    end: sse([
      {
        candidates: [{ content: { parts: [] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 5 },
      },
    ]),
    reasoning: 'Hm.',
  },
  bedrock: {
    settings: { kind: 'bedrock', apiKey: 'ABSK-0123456789' },
    path: /^\/v1\/model\/m\/converse-stream$/,
    asks: {},
    begin: aws([
      { messageStart: { role: 'assistant' } },
      { contentBlockDelta: { contentBlockIndex: 0, delta: { reasoningContent: { text: 'Hm.' } } } },
      { contentBlockStop: { contentBlockIndex: 0 } },
      ...[first, second, third].map((text) => ({
        contentBlockDelta: { contentBlockIndex: 1, delta: { text } },
      })),
    ]),
    end: aws([
      { contentBlockStop: { contentBlockIndex: 1 } },
      { messageStop: { stopReason: 'end_turn' } },
      { metadata: { usage: { inputTokens: 12, outputTokens: 5, totalTokens: 17 }, metrics: {} } },
    ]),
    headers: bedrockHeaders,
    reasoning: 'Hm.',
  },
  ollama: {
    settings: { kind: 'ollama', apiKey: null, baseURL: fake.url.replace('/v1', '') },
    path: /^\/api\/chat$/,
    asks: { stream: true },
    begin: lines([
      { model: 'm-2', message: { role: 'assistant', content: '', thinking: 'Hm.' }, done: false },
      ...[first, second, third].map((content) => ({
        ...{ model: 'm-2', message: { role: 'assistant', content }, done: false },
      })),
    ]),
    end: lines([
      {
        ...{ model: 'm-2', message: { role: 'assistant', content: '' }, done: true },
        ...{ done_reason: 'stop', prompt_eval_count: 12, eval_count: 5 },
      },
    ]),
    headers: { 'content-type': 'application/x-ndjson' },
    reasoning: 'Hm.',
  },
};

/** Asks for a stream. The Responses API is spoken only with its vendor's host, so that name resolves to the fake. */
async function ask(kind: Kind, step: Step, more: object = {}) {
  fake.script(step);
  const events: ModelEvent[] = [];
  const onEvent = (event: ModelEvent) => void events.push(event);
  const { settings, options } = reachable(kind);
  const answer = await askModel(fake, settings, {
    ...{ ...options, price, stream: true, onEvent, ...more },
  });
  return { answer, events, call: fake.calls.at(-1) };
}

async function fail(kind: Kind, step: Step, more: object = {}) {
  fake.script(step);
  const events: ModelEvent[] = [];
  const onEvent = (event: ModelEvent) => void events.push(event);
  const { settings, options } = reachable(kind);
  const failure = await failedModel(fake, settings, {
    ...{ ...options, price, stream: true, onEvent, ...more },
  });
  return { failure, texts: textsIn(events) };
}

function reachable({ settings }: Kind) {
  const url = URL.parse(settings.baseURL ?? '');
  if (url?.hostname !== 'fake.azure.com') return { settings, options: {} };
  url.port = new URL(fake.url).port;
  const allowedHosts = [fake.host, url.host];
  return { settings: { ...settings, baseURL: url.href }, options: { allowedHosts } };
}

function textsIn(events: readonly ModelEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'text' ? event.text : []));
}

/** Cuts every chunk in bytes, so that no piece is a whole event. */
const cut = (chunks: readonly (string | Uint8Array)[]) => {
  const bytes = Buffer.concat(chunks.map((chunk) => Buffer.from(chunk as Uint8Array)));
  return Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) =>
    bytes.subarray(at * 7, at * 7 + 7),
  );
};

describe('a stream is passed on as it arrives', () => {
  for (const [name, kind] of Object.entries(kinds)) {
    test(name, async () => {
      const chunks = [...kind.begin, ...kind.end];
      for (const pieces of [chunks, cut(chunks)]) {
        const headers = kind.headers && { headers: kind.headers };
        const { answer, events, call } = await ask(kind, { chunks: pieces, ...headers });
        assert.match(String(call?.path), kind.path);
        for (const [field, value] of Object.entries(kind.asks)) {
          assert.deepEqual(call?.body[field], value);
        }
        // The halves of the surrogate pair arrive together.
        assert.deepEqual(textsIn(events), ['Hel', 'lo ', '\u{1f642}.']);
        assert.equal(answer.text, whole);
        const reasoning = events.flatMap((e) => (e.type === 'reasoning' ? e.text : []));
        assert.deepEqual([reasoning.join(''), answer.details?.reasoningText], ['Hm.', 'Hm.']);
        const { inputTokens, outputTokens } = answer.usage;
        assert.deepEqual([inputTokens, outputTokens, answer.finishReason], [12, 5, 'stop']);
        assert.deepEqual(answer.cost, { usd: '0.000022', known: true, source: 'workspace' });
        assert.deepEqual(
          // Before the end, some report what they have counted so far.
          events.slice(0, -2).flatMap(({ type }) => (type === 'usage' ? [] : type)),
          ['reasoning', 'text', 'text', 'text'],
        );
        assert.deepEqual(
          events.slice(-2).map(({ type }) => type),
          ['usage', 'finish'],
        );
      }
    });

    test(`${name}: cut before its end, the attempt fails at an unknown cost`, async () => {
      for (const ending of [{}, { ending: 'reset' as const }]) {
        const headers = kind.headers && { headers: kind.headers };
        const { failure, texts } = await fail(kind, { chunks: kind.begin, ...headers, ...ending });
        assert.deepEqual(summary(failure), ['PROVIDER_ERROR', true, false]);
        assert.equal(texts.join(''), ending.ending ? texts.join('') : whole);
      }
    });

    test(`${name}: a whole answer instead of a stream`, async () => {
      const { answer, events } = await ask(kind, { status: 200, body: unstreamed[name] ?? {} });
      assert.deepEqual([answer.text, textsIn(events), answer.cost.known], ['Hi', ['Hi'], true]);
    });
  }
});

const summary = ({ code, retryable, cost }: ModelFailure) => [code, retryable, cost.known];

const unstreamed: Record<string, object> = {
  'openai-compatible': {
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage,
  },
  'openai, Responses API': {
    ...{ ...response, status: 'completed', usage: { input_tokens: 12, output_tokens: 5 } },
    output: [
      {
        ...{ type: 'message', id: 'msg', role: 'assistant', status: 'completed' },
        content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
      },
    ],
  },
  anthropic: {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn' },
    ...{ content: [{ type: 'text', text: 'Hi' }], usage: { input_tokens: 12, output_tokens: 5 } },
  },
  google: {
    candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 5 },
  },
  bedrock: {
    output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
    ...{ stopReason: 'end_turn', usage: { inputTokens: 12, outputTokens: 5, totalTokens: 17 } },
  },
  ollama: {
    ...{ model: 'm', message: { role: 'assistant', content: 'Hi' }, done: true },
    ...{ done_reason: 'stop', prompt_eval_count: 12, eval_count: 5 },
  },
};

const compatible = kinds['openai-compatible'] as Kind;
const chat = (chunks: readonly string[]): Step => ({ chunks });

const respondingKind = kinds['openai, Responses API'] as Kind;
const created = respondingKind.begin.slice(0, 1);
const failedResponse = (error: object) => {
  const failed = { ...response, status: 'failed', error, output: [], usage: null };
  return String(sse([{ type: 'response.failed', response: failed }])[0]);
};

describe('an odd stream is read', () => {
  const text = (content: unknown) => delta({ content } as object);
  const end = sse([delta({}, 'stop'), { choices: [], usage }]);
  type Row = [name: string, chunks: readonly string[], texts: string, known?: boolean];
  const rows: Row[] = [
    ['comments and blank lines', [': ping\n\n\n', ...sse([text('a')]), ':x\r\n\r\n', ...end], 'a'],
    [
      'carriage returns alone',
      [`data: ${json(text('a'))}\r\rdata: ${json(delta({}, 'stop'))}\r\r`],
      'a',
      false,
    ],
    [
      'an event in two data lines',
      [`data: {"choices":\ndata: [{"delta":{"content":"a"}}]}\n\n`, ...end],
      'a',
    ],
    ['no space after the colon', [`data:${json(text('a'))}\n\n`, ...end], 'a'],
    [
      'no blank line at the end',
      [...sse([text('a')]), `data: ${json(delta({}, 'stop'))}`],
      'a',
      false,
    ],
    ['a byte order mark', ['\ufeff', ...sse([text('a')]), ...end], 'a'],
    ['no finish reason, but its end', [...sse([text('a')]), 'data: [DONE]\n\n'], 'a', false],
    [
      'a numeric finish reason',
      [...sse([text('a'), delta({}, 1 as never)]), ...sse([{ choices: [], usage }])],
      'a',
    ],
    ['role model', [...sse([delta({ role: 'model', content: 'a' })]), ...end], 'a'],
    [
      'a usage of texts',
      [
        ...sse([
          text('a'),
          { ...delta({}, 'stop'), usage: { prompt_tokens: '12', completion_tokens: '5' } },
        ]),
      ],
      'a',
    ],
    ['a usage as list', [...sse([text('a'), { ...delta({}, 'stop'), usage: [12] }])], 'a', false],
    ['no usage', [...sse([text('a'), delta({}, 'stop')])], 'a', false],
    [
      'content as parts',
      [
        ...sse([
          text([
            { type: 'thinking', thinking: 'hm' },
            { type: 'text', text: 'a' },
          ]),
        ]),
        ...end,
      ],
      'a',
    ],
    [
      'NaN and a raw tab',
      [`data: {"x":NaN,"choices":[{"delta":{"content":"a\tb"}}]}\n\n`, ...end],
      'a\tb',
    ],
    ['an event of one whole completion', sse([unstreamed['openai-compatible'] as object]), 'Hi'],
    ['a NUL', [...sse([text('a\0b')]), ...end], 'a\ufffdb'],
    ['half of a surrogate pair', [...sse([text('a\ud83d'), text('b')]), ...end], 'a\ufffdb'],
    ['half of a pair at the end', [...sse([text('a\ud83d')]), ...end], 'a\ufffd'],
  ];
  for (const [name, chunks, expected, known = true] of rows) {
    test(name, async () => {
      const { answer, events } = await ask(compatible, chat(chunks));
      assert.deepEqual([textsIn(events).join(''), answer.text], [expected, expected]);
      assert.equal(answer.cost.known, known);
    });
  }

  for (const [encoding, compress] of Object.entries({
    gzip: gzipSync,
    br: brotliCompressSync,
    zstd: zstdCompressSync,
  })) {
    const headers = { 'content-type': 'text/event-stream', 'content-encoding': encoding };

    test(`compressed with ${encoding}`, async () => {
      const chunks = [compress(Buffer.from([...compatible.begin, ...compatible.end].join('')))];
      const { answer } = await ask(compatible, { chunks, headers });
      assert.equal(answer.text, whole);
    });

    test(`compressed with ${encoding}, until an event that is not JSON`, async () => {
      const chunks = [compress(Buffer.from('data: {"choices\n\n'))];
      const { failure } = await fail(compatible, { chunks, headers });
      assert.deepEqual(summary(failure), ['PROVIDER_ERROR', false, false]);
    });
  }
});

describe('an empty finish reason does not end the answer', () => {
  const google = (text: string, finishReason: string) => ({
    candidates: [{ content: { parts: [{ text }] }, finishReason }],
  });
  const rows: [kind: string, begin: string[], end: string[]][] = [
    [
      'openai-compatible',
      sse([delta({ content: 'a' }, ''), delta({ content: 'b' }, '')]),
      sse([delta({}, 'stop'), { ...delta({}, ''), usage }]),
    ],
    ['google', sse([google('a', ''), google('b', '')]), sse([google('', 'STOP'), google('', '')])],
  ];
  for (const [name, begin, end] of rows) {
    test(name, async () => {
      const kind = kinds[name] as Kind;
      const { answer } = await ask(kind, chat([...begin, ...end]));
      assert.deepEqual([answer.text, answer.finishReason], ['ab', 'stop']);
      for (const ending of [{}, { ending: 'reset' as const }]) {
        const { failure } = await fail(kind, { chunks: begin, ...ending });
        assert.deepEqual(summary(failure), ['PROVIDER_ERROR', true, false]);
      }
    });
  }
});

describe('thoughts at the beginning of a text are reasoning', () => {
  const cases: [name: string, pieces: string[], text: string, reasoning: string][] = [
    ['a block', [' <th', 'ink>hm', 'm</thi', 'nk>\n\n', 'Hi'], 'Hi', 'hmm'],
    ['two blocks', ['<think>a</think> <think>b</think>c'], 'c', 'ab'],
    ['a block without an end', ['<think>never', ' ends'], '', 'never ends'],
    ['a tag that is none', ['<thin', 'g> Hi'], '<thing> Hi', ''],
    ['blanks before a text', ['  ', ' Hi'], '   Hi', ''],
    ['a tag within the text', ['Hi <think>x</think>'], 'Hi <think>x</think>', ''],
    ['only the end of a block', ['hm', '\n</think>\n\n', 'Hi'], 'hm\n</think>\n\nHi', ''],
    [
      'a surrogate pair where the closing tag might begin',
      ['<think>a', '\u{1f642}bbbbbbb', 'more</think>Hi'],
      ...(['Hi', 'a\u{1f642}bbbbbbbmore'] as const),
    ],
  ];
  for (const [name, pieces, text, reasoning] of cases) {
    test(name, async () => {
      const tool = { id: 'c', index: 0, function: { name: 'f', arguments: '{}' } };
      const chunks = sse([
        ...pieces.map((content) => delta({ content })),
        ...(text === '' ? [delta({ tool_calls: [tool] })] : []),
        delta({}, 'stop'),
      ]);
      const tools = [{ name: 'f', parameters: { type: 'object' } }];
      const { answer, events } = await ask(compatible, chat(chunks), { tools });
      assert.deepEqual([textsIn(events).join(''), answer.text], [text, text]);
      assert.equal(
        events.flatMap((e) => (e.type === 'reasoning' ? e.text : [])).join(''),
        reasoning,
      );
    });
  }
});

test('reasoning is passed on as it is recorded, however its surrogate pairs are cut', async () => {
  for (const pieces of [['a\ud83d', '\ude42b'], ['a\ud83d', 'b'], ['a', '\ud83d'], ['\ud83d']]) {
    const chunks = sse([
      ...pieces.map((reasoning_content) => delta({ reasoning_content })),
      ...[delta({ content: 'Hi' }), delta({}, 'stop')],
    ]);
    const { answer, events } = await ask(compatible, chat(chunks));
    const reasoning = events.flatMap((e) => (e.type === 'reasoning' ? e.text : [])).join('');
    assert.equal(reasoning, pieces.join('').toWellFormed());
    assert.equal(answer.details?.reasoningText?.toWellFormed(), reasoning);
  }
});

test('reasoning details are passed on', async () => {
  const details = [{ type: 'reasoning.text', text: 'hm' }];
  const chunks = [delta({ reasoning_details: details }), delta({ content: 'Hi' }, 'stop')];
  const { events } = await ask(compatible, chat(sse(chunks)));
  const reasoning = events.flatMap((event) => (event.type === 'reasoning' ? event.text : []));
  assert.deepEqual([reasoning, textsIn(events)], [['hm'], ['Hi']]);
});

test('a tool call in pieces arrives once it is complete', async () => {
  const piece = (fields: object) => delta({ tool_calls: [{ index: 0, ...fields }] });
  const chunks = sse([
    piece({ id: 'c', type: 'function', function: { name: 'search', arguments: '' } }),
    piece({ function: { arguments: '{"q":' } }),
    piece({ function: { arguments: '"x"}' } }),
    delta({}, 'tool_calls'),
  ]);
  const tools = [{ name: 'search', parameters: { type: 'object' } }];
  const { answer, events } = await ask(compatible, chat(chunks), { tools });
  const toolCall = { id: 'c', name: 'search', arguments: { q: 'x' } };
  assert.deepEqual(
    events.filter(({ type }) => type === 'toolCall'),
    [{ type: 'toolCall', toolCall }],
  );
  assert.deepEqual([answer.toolCalls, answer.finishReason], [[toolCall], 'tool-calls']);
});

test('a refusal in pieces is no text', async () => {
  const chunks = sse([delta({ refusal: 'I can' }), delta({ refusal: 'not.' }), delta({}, 'stop')]);
  const { failure, texts } = await fail(compatible, chat(chunks));
  assert.deepEqual(
    [failure.code, failure.details.refusalText, texts],
    ['CONTENT_FILTERED', 'I cannot.', []],
  );
});

describe('a stream fails', () => {
  const [begun] = sse([delta({ content: 'a' })]) as [string];
  const error = { error: { message: 'Overloaded', type: 'overloaded_error' } };
  const rows: [name: string, kind: string, chunks: (string | Uint8Array)[], is: unknown[]][] = [
    ['an error before any text', 'openai-compatible', sse([error]), ['PROVIDER_ERROR', true, true]],
    [
      'an error after a text',
      'openai-compatible',
      [begun, ...sse([error])],
      ['PROVIDER_ERROR', true, false],
    ],
    [
      'an error beside a finish reason',
      'openai-compatible',
      [begun, ...sse([{ ...delta({}, 'error'), ...error }])],
      ['PROVIDER_ERROR', true, false],
    ],
    [
      'a limit before any text',
      'bedrock',
      [awsFrame('exception', 'throttlingException', { message: 'Too many requests' })],
      ['PROVIDER_RATE_LIMITED', true, true],
    ],
    [
      'an exception after a text',
      'bedrock',
      [...(kinds.bedrock?.begin ?? []), awsFrame('exception', 'modelStreamErrorException', {})],
      ['PROVIDER_ERROR', true, false],
    ],
    [
      'an overload after a text',
      'anthropic',
      [...(kinds.anthropic?.begin ?? []), ...sse([{ type: 'error', ...error }])],
      ['PROVIDER_ERROR', true, false],
    ],
    [
      'an error of the Responses API',
      'openai, Responses API',
      sse([{ type: 'error', code: 'rate_limit_exceeded', message: 'Slow down.' }]),
      ['PROVIDER_RATE_LIMITED', true, true],
    ],
    [
      'a limit of the Responses API, as a response',
      'openai, Responses API',
      [...created, failedResponse({ code: 'rate_limit_exceeded', message: 'Slow down.' })],
      ['PROVIDER_RATE_LIMITED', true, true],
    ],
    [
      'a response that failed after a text',
      'openai, Responses API',
      [...respondingKind.begin, failedResponse({ code: 'server_error', message: 'Oops.' })],
      ['PROVIDER_ERROR', true, false],
    ],
    [
      'a response that was refused after a text',
      'openai, Responses API',
      [...respondingKind.begin, failedResponse({ code: 'invalid_prompt', message: 'Policy.' })],
      ['CONTENT_FILTERED', false, false],
    ],
    [
      'a response that failed before any text',
      'openai, Responses API',
      [...created, failedResponse({ code: 'server_error', message: 'Oops.' })],
      ['PROVIDER_ERROR', true, false],
    ],
    [
      'an error of the Responses API after a text',
      'openai, Responses API',
      [
        ...respondingKind.begin,
        ...sse([{ type: 'error', code: 'rate_limit_exceeded', message: 'Slow down.' }]),
      ],
      ['PROVIDER_RATE_LIMITED', true, false],
    ],
    [
      'an error of the Responses API while the model calls a tool',
      'openai, Responses API',
      [
        ...created,
        ...sse([
          { type: 'response.output_item.added', item: { type: 'function_call', id: 'f' } },
          { type: 'error', error: { code: 'rate_limit_exceeded', message: 'Slow down.' } },
        ]),
      ],
      ['PROVIDER_RATE_LIMITED', true, false],
    ],
    [
      'an error while the model calls a tool',
      'openai-compatible',
      sse([delta({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f' } }] }), error]),
      ['PROVIDER_ERROR', true, false],
    ],
    [
      'an error of Ollama',
      'ollama',
      lines([{ error: 'model runner has crashed' }]),
      ['PROVIDER_ERROR', true, true],
    ],
    [
      'an event that is not JSON',
      'openai-compatible',
      [begun, 'data: {"choices\n\n'],
      ['PROVIDER_ERROR', false, false],
    ],
    ['a page', 'openai-compatible', ['<html>Sign in</html>'], ['PROVIDER_ERROR', false, false]],
    ['no event', 'openai-compatible', [': ping\n\n'], ['PROVIDER_ERROR', false, false]],
    ['a corrupt frame', 'bedrock', [Buffer.alloc(64, 1)], ['PROVIDER_ERROR', true, false]],
  ];
  for (const [name, kindName, chunks, is] of rows) {
    test(`with ${name}`, async () => {
      const kind = kinds[kindName] as Kind;
      const headers = kind.headers && { headers: kind.headers };
      const { failure } = await fail(kind, { chunks, ...headers });
      assert.deepEqual(summary(failure), is, failure.message);
    });
  }

  test('with more than 32 MiB', async () => {
    const piece = `data: ${json(delta({ content: 'x'.repeat(1_048_576) }))}\n\n`;
    const { failure } = await fail(compatible, chat(Array.from({ length: 33 }, () => piece)));
    assert.deepEqual(summary(failure), ['PROVIDER_ERROR', false, false]);
    assert.match(failure.message, /more than 33554432 bytes/);
  });

  test('with more values than any model returns', async () => {
    const { failure } = await fail(compatible, chat([`data: [${'1,'.repeat(1_000_001)}`]));
    assert.match(failure.message, /more values/);
  });

  test('with its status before it begins, as any call', async () => {
    const step = { status: 429, body: error, headers: { 'retry-after': '7' } };
    const { failure } = await fail(compatible, step);
    assert.deepEqual(
      [failure.code, failure.rejected, failure.retryAfterMs],
      ['PROVIDER_RATE_LIMITED', true, 7_000],
    );
  });
});

test('what breaks after the end of an answer costs the usage only', async () => {
  const chunks = [...compatible.begin, ...sse([delta({}, 'stop')])] as string[];
  const { answer } = await ask(compatible, { chunks, ending: 'reset' });
  assert.deepEqual([answer.text, answer.cost.known], [whole, false]);
});

test('an answer ends with its stream, though the body stays open', async () => {
  for (const end of [chatEnd, ['data: [DONE]\n\n']]) {
    const chunks = [...compatible.begin, ...end];
    const { answer } = await ask(compatible, { chunks, ending: 'silence' });
    assert.equal(answer.text, whole);
  }
});

describe('a rejected parameter is sent in another form', () => {
  const rejected = (param: string, code = 'unsupported_parameter') => ({
    status: 400,
    body: { error: { message: `Unsupported parameter: '${param}'.`, param, code } },
  });
  const answers = chat([...compatible.begin, ...compatible.end] as string[]);

  test('stream_options', async () => {
    fake.script(rejected('stream_options'));
    const { answer, call } = await ask(compatible, answers);
    assert.deepEqual([call?.body.stream, call?.body.stream_options], [true, undefined]);
    assert.equal(answer.text, whole);
  });

  test('stream', async () => {
    fake.script(rejected('stream', 'unsupported_value'));
    const { answer, events, call } = await ask(compatible, {});
    assert.deepEqual([call?.body.stream, answer.text], [undefined, 'hello']);
    assert.deepEqual(textsIn(events), ['hello']);
  });

  test('temperature', async () => {
    fake.script(rejected('temperature'));
    const { answer, call } = await ask(compatible, answers, { temperature: 0.5 });
    assert.deepEqual([call?.body.stream, call?.body.temperature], [true, undefined]);
    assert.deepEqual(answer.settingsNotApplied, ['temperature']);
  });
});

test('structured output of Anthropic arrives in one piece, wherever it comes from', async () => {
  const kind = kinds.anthropic as Kind;
  const schema = { type: 'object', properties: { a: { type: 'number' } } } as const;
  const block = { type: 'tool_use', id: 't', name: 'json', input: {} };
  const input = (partial_json: string) => ({
    ...{ type: 'content_block_delta', index: 1 },
    delta: { type: 'input_json_delta', partial_json },
  });
  const chunks = [
    ...kind.begin.slice(0, 1),
    ...sse([
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Well: ' } },
      { type: 'content_block_start', index: 1, content_block: block },
      ...[input('{"a"'), input(':1}')],
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ]),
  ];
  const responseFormat = { type: 'json', schema };
  const { answer, events } = await ask(kind, { chunks }, { responseFormat });
  assert.deepEqual([textsIn(events), answer.text], [['{"a":1}'], '{"a":1}']);
});

test('an abort in the middle of a stream is thrown as it is', async () => {
  const stopping = new AbortController();
  const reason = new Error('canceled');
  fake.script({ chunks: compatible.begin, ending: 'silence' });
  const asked = askModel(
    fake,
    {},
    {
      stream: true,
      signal: stopping.signal,
      onEvent: ({ type }) => type === 'text' && stopping.abort(reason),
    },
  );
  await assert.rejects(asked, reason);
  await fake.calls.at(-1)?.hungUp;
});

describe('what is known of the usage is passed on before the end', () => {
  const rows: [string, string, readonly (string | Uint8Array)[], [number, number]][] = [
    [
      'by Anthropic, which begins with the input',
      'anthropic',
      kinds.anthropic?.begin ?? [],
      [12, 1],
    ],
    [
      'by a server that repeats it',
      'openai-compatible',
      sse([{ ...delta({ content: 'Hel' }), usage: { prompt_tokens: 12, completion_tokens: 2 } }]),
      [12, 2],
    ],
    [
      'by Google',
      'google',
      sse([
        {
          candidates: [{ content: { parts: [{ text: 'Hel' }] } }],
          usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 3 },
        },
      ]),
      [12, 3],
    ],
  ];
  for (const [name, kindName, chunks, counts] of rows) {
    test(name, async () => {
      const stopping = new AbortController();
      const events: ModelEvent[] = [];
      fake.script({ chunks, ending: 'silence' });
      const { settings } = kinds[kindName] as Kind;
      const onEvent = (event: ModelEvent) => {
        events.push(event);
        if (event.type === 'text') stopping.abort(new Error('canceled'));
      };
      const { signal } = stopping;
      await assert.rejects(askModel(fake, settings, { stream: true, signal, onEvent }), /canceled/);
      const found = events.flatMap((event) => (event.type === 'usage' ? [event] : []));
      const [first] = found;
      assert.deepEqual([first?.usage.inputTokens, first?.usage.outputTokens], counts);
      assert.equal(first?.cost.known, false);
    });
  }
});
