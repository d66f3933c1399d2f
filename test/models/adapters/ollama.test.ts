import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { askModel, failedModel } from '../../../harness/ask-model.ts';
import { type FakeProvider, startFakeProvider } from '../../../harness/fake-provider.ts';
import { noExtras } from '../../../src/core/model/request-extras.ts';
import { toOllama } from '../../../src/models/adapters/ollama.ts';

/** Ollama's own API, and the compatible one at an address that ends in `/v1`. */

let fake: FakeProvider;
before(async () => {
  fake = await startFakeProvider();
});
after(() => fake.close());

const own = () => ({ kind: 'ollama', apiKey: null, baseURL: fake.url.replace('/v1', '') }) as const;
const answer = (message: object, more: object = {}) => ({
  ...{ model: 'llama3.2', created_at: '2026-11-25T00:00:00Z' },
  ...{ message: { role: 'assistant', ...message }, done: true, done_reason: 'stop' },
  ...{ total_duration: 5, prompt_eval_count: 26, eval_count: 9 },
  ...more,
});

test('sends the exact request of /api/chat', async () => {
  const before = fake.calls.length;
  const bodyExtra = { keep_alive: '10m', options: { num_ctx: 8_192 } };
  const result = await askModel(
    fake,
    { ...own(), extras: { ...noExtras, bodyExtra } },
    { model: 'fake/llama3.2', system: 'Be brief.', temperature: 0.2, maxTokens: 9, topP: 0.5 },
  );
  const [sent] = fake.calls.slice(before);
  assert.equal(sent?.path, '/api/chat');
  assert.deepEqual(sent?.body, {
    model: 'llama3.2',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hello' },
    ],
    stream: false,
    keep_alive: '10m',
    options: { num_predict: 9, temperature: 0.2, top_p: 0.5, num_ctx: 8_192 },
  });
  assert.deepEqual(
    [result.text, result.finishReason, result.usage.inputTokens, result.usage.outputTokens],
    ['hello', 'stop', 10, 5],
  );
  assert.deepEqual(result.cost, { usd: '0', known: true, source: 'table' });
});

test('settings and provider options are options of the model', async () => {
  const before = fake.calls.length;
  await askModel(fake, own(), {
    settings: {
      ...{ reasoningEffort: 'minimal', stop: 'x', seed: 7, topK: 3, presencePenalty: 0.5 },
      providerOptions: { ollama: { num_ctx: 8_192, keep_alive: 0 }, openai: { store: true } },
    },
  });
  const [sent] = fake.calls.slice(before);
  assert.ok(sent);
  const { messages: _, ...body } = sent.body;
  assert.deepEqual(body, {
    ...{ model: 'm', stream: false, think: 'low', keep_alive: 0 },
    options: { presence_penalty: 0.5, stop: ['x'], seed: 7, top_k: 3, num_ctx: 8_192 },
  });
});

test('an address that ends in /v1 is called by chat completions', async () => {
  const before = fake.calls.length;
  await askModel(fake, { ...own(), baseURL: fake.url });
  assert.equal(fake.calls[before]?.path, '/v1/chat/completions');
});

test('reads thoughts, a cut answer, and counts that are left out', async () => {
  fake.script({ status: 200, body: answer({ content: 'Paris', thinking: 'France…' }) });
  const thought = await askModel(fake, own());
  assert.deepEqual(
    [thought.text, thought.details?.reasoningText, thought.details?.modelAnswered],
    ['Paris', 'France…', 'llama3.2'],
  );
  fake.script({ status: 200, body: answer({ content: 'Par' }, { done_reason: 'length' }) });
  assert.equal((await askModel(fake, own())).finishReason, 'length');
  const uncounted = answer({ content: 'Paris' }, { prompt_eval_count: undefined });
  fake.script({ status: 200, body: uncounted });
  const { usage, text } = await askModel(fake, own());
  assert.deepEqual([text, usage.inputTokens], ['Paris', 0]);
});

test('reads a stream that nobody asked for', async () => {
  const lines = [
    answer({ content: 'Par', thinking: 'a' }, { done: false, done_reason: undefined }),
    answer({ content: 'is', thinking: 'b' }, { done: false, done_reason: undefined }),
    answer({ content: '' }),
  ].map((line) => JSON.stringify(line));
  fake.script({ status: 200, body: `${lines.join('\n')}\n` });
  const { text, details, usage } = await askModel(fake, own());
  assert.deepEqual([text, details?.reasoningText, usage.outputTokens], ['Paris', 'ab', 9]);
});

const failures: [what: string, status: number, body: object | string, code: string][] = [
  [
    'an unknown model',
    404,
    { error: 'model "m" not found, try pulling it first' },
    'MODEL_NOT_FOUND',
  ],
  [
    'a long prompt',
    400,
    { error: 'the input length exceeds the context length' },
    'CONTEXT_LENGTH',
  ],
  ['a full queue', 503, { error: 'server busy, please try again' }, 'PROVIDER_ERROR'],
  [
    'an error with status 200',
    200,
    { error: 'model runner has unexpectedly stopped' },
    'PROVIDER_ERROR',
  ],
  ['a page for people', 200, '<html>Ollama is running</html>', 'PROVIDER_ERROR'],
  ['an empty answer', 200, answer({ content: '' }), 'EMPTY_OUTPUT'],
];
for (const [what, status, body, code] of failures) {
  test(`reports ${what}`, async () => {
    fake.script({ status, body });
    assert.equal((await failedModel(fake, own())).code, code);
  });
}

test('a loading server is waited for', async () => {
  fake.script({ status: 503, body: { error: 'llm server loading model' } });
  assert.equal((await failedModel(fake, own())).rejected, true);
});

test('translates tools, images and formats', () => {
  const call = { id: 'c1', type: 'function', function: { name: 'search', arguments: '{"q":1}' } };
  const tools = [{ type: 'function', function: { name: 'search', parameters: {} } }];
  const schema = { type: 'object' };
  const translated = toOllama({
    model: 'm',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is ' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'text', text: 'this?' },
        ],
      },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'found' },
    ],
    ...{
      tools,
      tool_choice: 'auto',
      reasoning_effort: 'low',
      seed: 7,
      stop: ['x'],
      num_ctx: 4_096,
    },
    response_format: { type: 'json_schema', json_schema: { name: 'response', schema } },
  });
  assert.deepEqual(translated, {
    model: 'm',
    messages: [
      { role: 'user', content: 'What is this?', images: ['AAAA'] },
      {
        ...{ role: 'assistant', content: '' },
        tool_calls: [{ function: { name: 'search', arguments: { q: 1 } } }],
      },
      { role: 'tool', tool_name: 'search', content: 'found' },
    ],
    ...{ stream: false, tools, format: schema, think: 'low' },
    options: { seed: 7, stop: ['x'], num_ctx: 4_096 },
  });
});

test('a tool call is answered as one', async () => {
  const called = { function: { name: 'search', arguments: { q: 1 } } };
  fake.script({ status: 200, body: answer({ content: '', tool_calls: [called] }) });
  // Nobody offered a tool, so the answer has no text.
  const failure = await failedModel(fake, own());
  assert.deepEqual([failure.code, failure.finishReason], ['EMPTY_OUTPUT', 'tool-calls']);
});
