import assert from 'node:assert/strict';
import dns from 'node:dns';
import { after, describe, mock, test } from 'node:test';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { askModel, failedModel } from '../../../harness/ask-model.ts';
import { type Step, startFakeProvider } from '../../../harness/fake-provider.ts';
import { correctionText } from '../../../src/core/agent/response-format.ts';
import type { ProviderSettings } from '../../../src/models/connection/settings.ts';

/** Arguments of calls of tools, as models write them: what is no JSON fails the attempt, whole or in a stream. */

const fake = await startFakeProvider();
after(fake.close);

// The Responses API is spoken only with its vendor's host, so that name resolves to the fake.
mock.method(dns, 'lookup', (_name: string, options: { all?: boolean }, done: Found) =>
  options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4),
);
type Found = (error: null, address: string | object[], family?: number) => void;

const name = 'weather';
const tools = [{ name, parameters: { type: 'object' } }];
const usage = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };
const counts = { input_tokens: 12, output_tokens: 5 };
const sse = (events: readonly object[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`);

interface Kind {
  readonly settings: Partial<ProviderSettings>;
  /** An answer that calls a tool with these arguments. */
  readonly whole?: (text: string, finish?: string) => object;
  readonly streamed: (text: string, finish?: string) => Exclude<Step, string>;
}

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString()),
  (text) => Buffer.from(text),
);
const aws = (events: readonly object[]) =>
  events.map((event) => {
    const [[type = '', body] = []] = Object.entries(event);
    const header = (value: string) => ({ type: 'string', value }) as const;
    const headers = { ':message-type': header('event'), ':event-type': header(type) };
    return codec.encode({ headers, body: Buffer.from(JSON.stringify(body)) });
  });

const pieces = (text: string) => [text.slice(0, 4), text.slice(4)];
const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', error: null };
const called = (text: string) => ({
  ...{ ...response, status: 'completed', usage: counts },
  output: [{ type: 'function_call', id: 'f', call_id: 'c', name, arguments: text }],
});

const kinds: Record<string, Kind> = {
  chat: {
    settings: {},
    whole: (text, finish = 'tool_calls') => ({
      choices: [
        {
          ...{ index: 0, finish_reason: finish },
          message: {
            ...{ role: 'assistant', content: null },
            tool_calls: [{ id: 'c', type: 'function', function: { name, arguments: text } }],
          },
        },
      ],
      usage,
    }),
    streamed: (text, finish = 'tool_calls') => ({
      chunks: [
        ...sse(
          ['', ...pieces(text)].map((piece, index) => ({
            choices: [
              {
                index: 0,
                delta: {
                  tool_calls: [
                    {
                      ...{ index: 0, ...(index === 0 && { id: 'c' }) },
                      function: { ...(index === 0 && { name }), arguments: piece },
                    },
                  ],
                },
              },
            ],
          })),
        ),
        ...sse([{ choices: [{ index: 0, delta: {}, finish_reason: finish }], usage }]),
        'data: [DONE]\n\n',
      ],
    }),
  },
  responses: {
    settings: { kind: 'azure', baseURL: 'http://fake.azure.com/openai/v1' },
    whole: called,
    streamed: (text) => ({
      chunks: sse([
        { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
        { type: 'response.function_call_arguments.delta', item_id: 'f', delta: text },
        { type: 'response.completed', response: called(text) },
      ]),
    }),
  },
  anthropic: {
    settings: { kind: 'anthropic' },
    streamed: (text, finish = 'tool_use') => ({
      chunks: sse([
        {
          type: 'message_start',
          message: {
            ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] },
            ...{ stop_reason: null, usage: { input_tokens: 12, output_tokens: 1 } },
          },
        },
        {
          ...{ type: 'content_block_start', index: 0 },
          content_block: { type: 'tool_use', id: 'c', name, input: {} },
        },
        ...pieces(text).map((partial_json) => ({
          ...{ type: 'content_block_delta', index: 0 },
          delta: { type: 'input_json_delta', partial_json },
        })),
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: finish }, usage: { output_tokens: 5 } },
        { type: 'message_stop' },
      ]),
    }),
  },
  bedrock: {
    settings: { kind: 'bedrock', apiKey: 'ABSK-0123456789' },
    streamed: (text) => ({
      headers: { 'content-type': 'application/vnd.amazon.eventstream' },
      chunks: aws([
        { messageStart: { role: 'assistant' } },
        {
          contentBlockStart: {
            ...{ contentBlockIndex: 0, start: { toolUse: { toolUseId: 'c', name } } },
          },
        },
        ...pieces(text).map((input) => ({
          contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input } } },
        })),
        { contentBlockStop: { contentBlockIndex: 0 } },
        { messageStop: { stopReason: 'tool_use' } },
        { metadata: { usage: { inputTokens: 12, outputTokens: 5, totalTokens: 17 }, metrics: {} } },
      ]),
    }),
  },
  ollama: {
    settings: { kind: 'ollama', apiKey: null, baseURL: fake.url.replace('/v1', '') },
    whole: (text, finish = 'stop') => ({
      ...{ model: 'm', done: true, done_reason: finish, prompt_eval_count: 12, eval_count: 5 },
      message: {
        role: 'assistant',
        content: '',
        tool_calls: [{ function: { name, arguments: text } }],
      },
    }),
    streamed: (text) => ({
      headers: { 'content-type': 'application/x-ndjson' },
      chunks: [
        { message: { content: '', tool_calls: [{ function: { name, arguments: text } }] } },
        { message: { content: '' }, done: true, prompt_eval_count: 12, eval_count: 5 },
      ].map((line) => `${JSON.stringify({ model: 'm', ...line })}\n`),
    }),
  },
};

const price = {
  ...{ inputPerMillion: '1', outputPerMillion: '2' },
  ...{ cacheReadPerMillion: null, cacheWritePerMillion: null },
};

function optionsOf({ settings }: Kind, stream: boolean): [Partial<ProviderSettings>, object] {
  const url = URL.parse(settings.baseURL ?? '');
  const options = { tools, stream, price };
  if (url?.hostname !== 'fake.azure.com') return [settings, options];
  url.port = new URL(fake.url).port;
  const allowedHosts = [fake.host, url.host];
  return [
    { ...settings, baseURL: url.href },
    { ...options, allowedHosts },
  ] as const;
}

const ways = Object.entries(kinds).flatMap(([title, kind]) => {
  const { whole, streamed } = kind;
  const inPieces = [`${title}, streamed`, kind, true, streamed] as const;
  if (!whole) return [inPieces];
  const atOnce = (text: string): Step => ({ status: 200, body: whole(text) });
  return [[title, kind, false, atOnce] as const, inPieces];
});

const broken = ['{"city":"Be', '{city: Bern}', "{'city': 'Bern'}", 'Bern', '{"a":1}{"b":2}', '"{'];
const readable: [string, unknown][] = [
  ['{"city":"Bern"}', { city: 'Bern' }],
  ['', {}],
  ['null', {}],
  [JSON.stringify('{"city":"Bern"}'), { city: 'Bern' }],
];

for (const [title, kind, stream, step] of ways) {
  describe(title, () => {
    for (const text of broken) {
      test(`arguments that are no JSON: ${text}`, async () => {
        fake.script(step(text));
        const failure = await failedModel(fake, ...optionsOf(kind, stream));
        assert.deepEqual([failure.code, failure.retryable], ['SCHEMA_MISMATCH', true]);
        const { inputTokens, outputTokens } = failure.usage;
        assert.deepEqual([inputTokens, outputTokens, failure.cost.usd], [12, 5, '0.000022']);
        assert.match(failure.message, /the call of the tool "weather" are not JSON/);
        assert.ok(!failure.message.includes(text));
      });
    }

    for (const [text, expected] of readable) {
      test(`arguments ${text || 'without a text'}`, async () => {
        fake.script(step(text));
        const { toolCalls, finishReason } = await askModel(fake, ...optionsOf(kind, stream));
        assert.deepEqual(
          toolCalls?.map((call) => call.arguments),
          [expected],
        );
        assert.equal(finishReason, 'tool-calls');
      });
    }
  });
}

test('arguments that are JSON, but no object, are not accepted', async () => {
  const { settings, whole } = kinds.chat as Required<Kind>;
  for (const text of ['["Bern"]', '7', 'true']) {
    fake.script({ status: 200, body: whole(text) });
    const { code, message } = await failedModel(fake, settings, { tools });
    assert.equal(code, 'SCHEMA_MISMATCH');
    assert.match(message, /the call of the tool "weather" are JSON, but not an object\.$/);
  }
});

test('arguments that are nested too deep are not accepted', async () => {
  const { settings, whole } = kinds.chat as Required<Kind>;
  for (const levels of [128, 100_000]) {
    const deep = `${'['.repeat(levels)}${']'.repeat(levels)}`;
    for (const text of [`{"city":${deep}}`, JSON.stringify(`{"city":${deep}}`)]) {
      fake.script({ status: 200, body: whole(text) });
      const { code, message } = await failedModel(fake, settings, { tools });
      assert.equal(code, 'SCHEMA_MISMATCH');
      assert.match(message, /the call of the tool "weather" are nested deeper than 128 levels\.$/);
    }
  }
});

test('a call without arguments at the token limit is one whose arguments were cut off', async () => {
  const { chat, anthropic, ollama } = kinds as Record<string, Kind>;
  for (const [kind, step] of [
    [chat, { status: 200, body: chat?.whole?.('', 'length') }],
    [chat, chat?.streamed('', 'length')],
    [anthropic, anthropic?.streamed('', 'max_tokens')],
    [ollama, { status: 200, body: ollama?.whole?.('', 'length') }],
  ] as [Kind, Exclude<Step, string>][]) {
    fake.script(step);
    const options = optionsOf(kind, 'chunks' in step);
    const { code, message } = await failedModel(fake, ...options);
    assert.equal(code, 'SCHEMA_MISMATCH');
    assert.match(message, /are not JSON: cut off at the token limit\.$/);
  }
});

test('the model is asked for another call, and told where the arguments were cut off', async () => {
  const body = kinds.chat?.whole?.('{"city"') as { choices: [{ finish_reason: string }] };
  body.choices[0].finish_reason = 'length';
  fake.script({ status: 200, body });
  const { message } = await failedModel(fake, {}, { tools });
  assert.match(message, /are not JSON: cut off at the token limit\.$/);
  assert.match(
    correctionText(message),
    /Call it again, with arguments that are one JSON object\.$/,
  );
});
