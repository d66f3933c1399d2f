import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Message } from '../../../src/core/agent/messages.ts';
import type { ToolChoice } from '../../../src/core/agent/version-content.ts';
import { chat, response } from '../generated.ts';
import { kinds, wireRequests } from '../wire-request.ts';

/** Messages and tools: what each provider kind gets, and how its calls of tools are read. */

const messages: readonly Message[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Weather in Bern?' },
  {
    role: 'assistant',
    content: '',
    toolCalls: [{ id: 'c1', name: 'weather', arguments: { city: 'Bern' } }],
  },
  { role: 'tool', toolCallId: 'c1', content: 'sunny' },
  { role: 'user', content: ' ' },
  { role: 'system', content: 'In French.' },
  { role: 'user', content: 'And?' },
  { role: 'assistant', content: 'Il fait' },
];
const parameters = {
  ...{ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const [name, description] = ['weather', 'The weather'];
const tools = [{ name, description, parameters }];

const chatBody = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Weather in Bern?' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'c1', type: 'function', function: { name, arguments: '{"city":"Bern"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'sunny' },
    { role: 'system', content: 'In French.' },
    { role: 'user', content: 'And?' },
    { role: 'assistant', content: 'Il fait' },
  ],
  tools: [{ type: 'function', function: { name, description, parameters } }],
  tool_choice: { type: 'function', function: { name } },
};

const bodies: Readonly<Record<keyof typeof kinds, object>> = {
  responses: {
    ...{ model: 'gpt-4o', store: false },
    input: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'input_text', text: 'Weather in Bern?' }] },
      { type: 'function_call', call_id: 'c1', name, arguments: '{"city":"Bern"}' },
      { type: 'function_call_output', call_id: 'c1', output: 'sunny' },
      { role: 'system', content: 'In French.' },
      { role: 'user', content: [{ type: 'input_text', text: 'And?' }] },
      { role: 'assistant', content: 'Il fait' },
    ],
    tools: [{ type: 'function', name, description, parameters, strict: false }],
    tool_choice: { type: 'function', name },
  },
  chat: { model: 'gpt-4o', ...chatBody },
  anthropic: {
    ...{ model: 'claude-sonnet-4-5', max_tokens: 64_000 },
    system: [{ type: 'text', text: 'Be brief.\n\nIn French.' }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Weather in Bern?' }] },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'c1', name, input: { city: 'Bern' } }],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'sunny' },
          { type: 'text', text: 'And?' },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'Il fait' }] },
    ],
    tools: [{ name, description, input_schema: parameters }],
    tool_choice: { type: 'tool', name },
  },
  google: {
    generationConfig: {},
    systemInstruction: { parts: [{ text: 'Be brief.\n\nIn French.' }] },
    contents: [
      { role: 'user', parts: [{ text: 'Weather in Bern?' }] },
      { role: 'model', parts: [{ functionCall: { id: 'c1', name, args: { city: 'Bern' } } }] },
      {
        role: 'user',
        parts: [{ functionResponse: { id: 'c1', name, response: { name, content: 'sunny' } } }],
      },
      { role: 'user', parts: [{ text: 'And?' }] },
      { role: 'model', parts: [{ text: 'Il fait' }] },
    ],
    tools: [{ functionDeclarations: [{ name, description, parametersJsonSchema: parameters }] }],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [name] } },
  },
  bedrock: {
    system: [{ text: 'Be brief.\n\nIn French.' }],
    messages: [
      { role: 'user', content: [{ text: 'Weather in Bern?' }] },
      {
        role: 'assistant',
        content: [{ toolUse: { toolUseId: 'c1', name, input: { city: 'Bern' } } }],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'c1', content: [{ text: 'sunny' }] } },
          { text: 'And?' },
        ],
      },
      { role: 'assistant', content: [{ text: 'Il fait' }] },
    ],
    additionalModelResponseFieldPaths: ['/delta/stop_sequence'],
    toolConfig: {
      tools: [{ toolSpec: { name, description, inputSchema: { json: parameters } } }],
      toolChoice: { tool: { name } },
    },
  },
  compatible: { model: 'm', ...chatBody },
};

describe('messages, tools and a choice', () => {
  for (const [kind, body] of Object.entries(bodies)) {
    test(kind, async () => {
      const { settings, model } = kinds[kind as keyof typeof kinds];
      const call = { messages, tools, toolChoice: { tool: name } };
      const { sent, generated } = await wireRequests(settings, model, call);
      assert.deepEqual(sent[0]?.body, body);
      assert.deepEqual([generated.text, generated.toolCalls], ['hi', []]);
      assert.deepEqual(generated.settingsNotApplied, []);
    });
  }

  const choices: [ToolChoice, unknown][] = [
    ['auto', 'auto'],
    ['none', 'none'],
    ['required', 'required'],
  ];
  for (const [toolChoice, expected] of choices) {
    test(`the choice ${toolChoice}, and a tool without parameters`, async () => {
      const { settings, model } = kinds.compatible;
      const call = { tools: [{ name }], toolChoice };
      const { sent } = await wireRequests(settings, model, call);
      assert.equal(sent[0]?.body.tool_choice, expected);
      const empty = { type: 'object', properties: {} };
      assert.deepEqual(sent[0]?.body.tools[0].function, { name, parameters: empty });
    });
  }
});

const functionCall = (given: unknown) => ({ id: 'c1', function: { name, arguments: given } });
const calling = (call: object, finish = 'tool_calls') => {
  const message = { role: 'assistant', content: null, tool_calls: [call] };
  return chat(undefined, { message, finish_reason: finish });
};
const city = '{"city":"Bern"}';

describe('calls of tools are read', () => {
  const answers: Record<string, [keyof typeof kinds, object, unknown?]> = {
    responses: [
      'responses',
      response({
        output: [
          {
            type: 'function_call',
            id: 'f',
            call_id: 'c1',
            name,
            arguments: city,
            status: 'completed',
          },
        ],
      }),
    ],
    chat: ['chat', calling({ type: 'function', ...functionCall(city) })],
    anthropic: [
      'anthropic',
      {
        ...{ id: 'm', type: 'message', role: 'assistant', model: 'c', stop_reason: 'tool_use' },
        content: [{ type: 'tool_use', id: 'c1', name, input: { city: 'Bern' } }],
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    ],
    google: [
      'google',
      {
        candidates: [
          {
            content: { parts: [{ functionCall: { id: 'c1', name, args: { city: 'Bern' } } }] },
            finishReason: 'STOP',
          },
        ],
      },
    ],
    bedrock: [
      'bedrock',
      {
        output: {
          message: {
            role: 'assistant',
            content: [{ toolUse: { toolUseId: 'c1', name, input: { city: 'Bern' } } }],
          },
        },
        stopReason: 'tool_use',
        usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      },
    ],
    'with a plain stop': ['compatible', calling(functionCall(city), 'stop')],
    'with arguments as an object': ['compatible', calling(functionCall({ city: 'Bern' }))],
    'without arguments': ['compatible', calling(functionCall('')), {}],
  };
  for (const [title, [kind, body, given]] of Object.entries(answers)) {
    test(title, async () => {
      const { settings, model } = kinds[kind];
      const call = { tools };
      const { generated } = await wireRequests(settings, model, call, () => Response.json(body));
      const [found] = generated.toolCalls;
      assert.deepEqual([found?.name, found?.arguments], [name, given ?? { city: 'Bern' }]);
      assert.equal(found?.id, 'c1');
      assert.equal(generated.finishReason, 'tool-calls');
    });
  }

  test('a call of a tool that nobody offered does not count', async () => {
    const { settings, model } = kinds.compatible;
    const reply = () => Response.json(calling(functionCall(city)));
    const { generated } = await wireRequests(settings, model, {}, reply);
    assert.deepEqual(generated.toolCalls, []);
  });
});
