import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { askModel } from '../../../harness/ask-model.ts';
import { failing, type Step, startFakeProvider } from '../../../harness/fake-provider.ts';
import type { Message } from '../../../src/core/agent/messages.ts';
import type { ProviderSettings } from '../../../src/models/connection/settings.ts';

/** The message of a first turn, and what the second turn sends of it. */

const fake = await startFakeProvider();
after(fake.close);

const name = 'look_up';
const tools = [{ name, parameters: { type: 'object' } }];
const user = { role: 'user', content: 'Weather?' } as const;
const called = { name, arguments: '{"city":"Bern"}' };
const call = { id: 'call_1', type: 'function', function: called };

/** The messages of the second turn as the provider gets them. */
async function secondTurn(
  settings: Partial<ProviderSettings>,
  first: Step,
  { stream = false, second = [] as Step[], asked = {} as object } = {},
) {
  fake.script(first, ...second);
  const answer = await askModel(fake, settings, { tools, stream });
  const { text, toolCalls = [], details } = answer;
  const provided = details?.message && { provided: JSON.parse(JSON.stringify(details.message)) };
  const messages: Message[] = [
    user,
    { role: 'assistant', content: text, toolCalls, ...provided },
    { role: 'tool', toolCallId: toolCalls[0]?.id ?? '', content: 'Sun' },
  ];
  const { settingsNotApplied } = await askModel(fake, settings, { tools, messages, ...asked });
  const { body } = fake.calls.at(-1) ?? {};
  return { details, settingsNotApplied, sent: body.messages ?? body.contents };
}

const completion = (message: object) => ({
  status: 200,
  body: {
    ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
    choices: [
      { index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', ...message } },
    ],
    usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
  },
});
const chunks = (...deltas: object[]): Step => ({
  chunks: [
    ...deltas.map(
      (delta) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }], model: 'm' })}\n\n`,
    ),
    'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\n',
    'data: [DONE]\n\n',
  ],
});

describe('chat completions get the fields of a message back as they were', () => {
  const details = [
    { type: 'reasoning.text', text: 'Let me see.', signature: 's', format: 'f', index: 0, id: 'r' },
    { type: 'reasoning.encrypted', data: 'd', format: 'f', index: 1 },
  ];
  const messages: Record<string, object> = {
    'reasoning_content (DeepSeek, vLLM)': { reasoning_content: 'Let me see.' },
    'reasoning (Groq, Ollama)': { reasoning: 'Let me see.' },
    'reasoning_details (OpenRouter)': { reasoning: 'Let me see.', reasoning_details: details },
    'thinking_blocks (LiteLLM)': {
      ...{ reasoning_content: 'Let me see.', provider_specific_fields: { a: 1 } },
      thinking_blocks: [{ type: 'thinking', thinking: 'Let me see.', signature: 's' }],
    },
    'extra_content (Gemini)': { extra_content: { google: { thought_signature: 's' } } },
  };
  for (const [title, fields] of Object.entries(messages)) {
    for (const [kind, id] of [
      ['openai-compatible', call.id],
      ['openai', call.id],
      // A number is no id: the response has to be repaired first.
      ['openai-compatible', 7],
    ] as const) {
      test(`${title}, ${kind}, id ${id}`, async () => {
        const toolCalls = [{ ...call, id, extra_content: { google: { thought_signature: 't' } } }];
        const first = completion({ content: null, ...fields, tool_calls: toolCalls });
        const { sent } = await secondTurn({ kind }, first);
        const { role: _, content: __, tool_calls: calls, ...others } = sent[1];
        assert.deepEqual(others, fields);
        assert.deepEqual(calls, [{ ...toolCalls[0], id: String(id) }]);
      });
    }
  }

  test('pieces of a stream are joined, what they repeat is not', async () => {
    const piece = (fields: object) => ({
      reasoning_details: [{ type: 'reasoning.text', format: 'f', index: 0, ...fields }],
    });
    const extra_content = { google: { thought_signature: 't' } };
    const first = chunks(
      piece({ text: 'Let me ', id: 'r' }),
      piece({ text: 'see.' }),
      piece({ signature: 's' }),
      { tool_calls: [{ index: 0, ...call, extra_content }] },
      { tool_calls: [{ index: 0, function: { arguments: '' }, extra_content }] },
    );
    const { sent } = await secondTurn({}, first, { stream: true });
    const [text] = details;
    assert.deepEqual(sent[1].reasoning_details, [{ ...text }]);
    assert.deepEqual(sent[1].tool_calls[0].extra_content, extra_content);
  });

  test('reasoning in the text stays there for the provider, and only for it', async () => {
    const content = '<think>Let me see.</think>\n\nI look it up.';
    const first = completion({ content, tool_calls: [call] });
    const { sent, details: read } = await secondTurn({}, first);
    assert.equal(sent[1].content, content);
    assert.equal(read?.reasoningText, 'Let me see.');
  });

  test('without reasoning, nothing is kept', async () => {
    const first = completion({ content: 'I look it up.', tool_calls: [call] });
    const { details: read } = await secondTurn({}, first);
    assert.equal(read?.message, undefined);
  });
});

describe('parts with signatures', () => {
  /** The second turn is answered like the first one, in the form of the same API. */
  const inTurn = (settings: Partial<ProviderSettings>, first: Step, stream = false) =>
    secondTurn(settings, first, { stream, second: [first], asked: { stream } });

  const kinds: Record<
    string,
    { settings: Partial<ProviderSettings>; answer: object; part: object }
  > = {
    'a redacted thought of Anthropic': {
      settings: { kind: 'anthropic' },
      answer: {
        ...{ id: 'm', type: 'message', role: 'assistant', model: 'm', stop_reason: 'tool_use' },
        usage: { input_tokens: 12, output_tokens: 5 },
        content: [
          { type: 'redacted_thinking', data: 'secret' },
          { type: 'tool_use', id: 'call_1', name, input: {} },
        ],
      },
      part: { type: 'redacted_thinking', data: 'secret' },
    },
    'a thought of Anthropic without a text': {
      settings: { kind: 'anthropic' },
      answer: {
        ...{ id: 'm', type: 'message', role: 'assistant', model: 'm', stop_reason: 'tool_use' },
        usage: { input_tokens: 12, output_tokens: 5 },
        content: [
          { type: 'thinking', thinking: '', signature: 's' },
          { type: 'tool_use', id: 'call_1', name, input: {} },
        ],
      },
      part: { type: 'thinking', thinking: '', signature: 's' },
    },
    'a redacted thought of Bedrock': {
      settings: { kind: 'bedrock', apiKey: 'ABSK-0123456789' },
      answer: {
        ...{ stopReason: 'tool_use', usage: { inputTokens: 12, outputTokens: 5, totalTokens: 17 } },
        output: {
          message: {
            role: 'assistant',
            content: [
              { reasoningContent: { redactedContent: 'c2VjcmV0' } },
              { toolUse: { toolUseId: 'call_1', name, input: {} } },
            ],
          },
        },
      },
      part: { reasoningContent: { redactedContent: 'c2VjcmV0' } },
    },
  };
  for (const [title, { settings, answer, part }] of Object.entries(kinds)) {
    test(title, async () => {
      const { sent } = await inTurn(settings, { status: 200, body: answer });
      assert.deepEqual(sent[1].content[0], part);
    });
  }

  test('a redacted thought of Bedrock in a stream', async () => {
    const { sent } = await inTurn(
      { kind: 'bedrock', apiKey: 'ABSK-0123456789' },
      {
        headers: { 'content-type': 'application/vnd.amazon.eventstream' },
        chunks: aws([
          { messageStart: { role: 'assistant' } },
          {
            contentBlockDelta: {
              contentBlockIndex: 0,
              delta: { reasoningContent: { redactedContent: 'c2VjcmV0' } },
            },
          },
          {
            contentBlockStart: {
              contentBlockIndex: 1,
              start: { toolUse: { toolUseId: 'call_1', name } },
            },
          },
          { messageStop: { stopReason: 'tool_use' } },
          {
            metadata: { usage: { inputTokens: 12, outputTokens: 5, totalTokens: 17 }, metrics: {} },
          },
        ]),
      },
      true,
    );
    assert.deepEqual(sent[1].content[0], { reasoningContent: { redactedContent: 'c2VjcmV0' } });
  });

  test('thoughts and calls of Google', async () => {
    const functionCall = { name, args: { city: 'Bern' } };
    const parts = [
      { text: 'Let me see.', thought: true, thoughtSignature: 's' },
      { functionCall, thoughtSignature: 't' },
    ];
    const body = {
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 5, totalTokenCount: 17 },
    };
    const { sent } = await inTurn({ kind: 'google' }, { status: 200, body });
    assert.deepEqual(sent[1].parts[0], parts[0]);
    assert.equal(sent[1].parts[1].thoughtSignature, 't');
  });
});

describe('a server that does not take the field', () => {
  const refusals: Record<string, Step> = {
    Groq: failing(
      400,
      "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
    ),
    Mistral: {
      status: 422,
      body: {
        detail: [
          {
            type: 'extra_forbidden',
            loc: ['body', 'messages', 1, 'assistant', 'reasoning_content'],
            msg: 'Extra inputs are not permitted',
          },
        ],
      },
    },
    Cerebras: failing(
      400,
      'body.messages.1.assistant.reasoning_content: property is unsupported',
      'wrong_api_format',
    ),
  };
  for (const [title, refusal] of Object.entries(refusals)) {
    test(`${title} gets the message without it, in this call alone`, async () => {
      const first = completion({ content: '', reasoning_content: 'Hm.', tool_calls: [call] });
      const { sent, settingsNotApplied } = await secondTurn({}, first, { second: [refusal] });
      assert.ok(!('reasoning_content' in sent[1]));
      assert.deepEqual(sent[1].tool_calls, [call]);
      assert.deepEqual(settingsNotApplied, []);
    });
  }

  test('an objection to a setting of the request is not one to a message', async () => {
    const first = completion({ content: '', reasoning_content: 'Hm.', tool_calls: [call] });
    const refusal = failing(400, "Unsupported parameter: 'reasoning_effort' is not supported.");
    const asked = { settings: { reasoningEffort: 'low' } };
    const turn = await secondTurn({}, first, { second: [refusal], asked });
    assert.equal(turn.sent[1].reasoning_content, 'Hm.');
    assert.deepEqual(turn.settingsNotApplied, ['reasoningEffort']);
  });
});

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString()),
  (text) => Buffer.from(text),
);
function aws(events: readonly object[]) {
  return events.map((event) => {
    const [[type = '', body] = []] = Object.entries(event);
    const header = (value: string) => ({ type: 'string', value }) as const;
    const headers = { ':message-type': header('event'), ':event-type': header(type) };
    return codec.encode({ headers, body: Buffer.from(JSON.stringify(body)) });
  });
}
