import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { askModel, failedModel } from '../../../harness/ask-model.ts';
import { type Step, startFakeProvider } from '../../../harness/fake-provider.ts';
import type { CallSettings } from '../../../src/core/agent/call-settings.ts';
import type { Message } from '../../../src/core/agent/messages.ts';
import type { ProviderSettings } from '../../../src/models/connection/settings.ts';

/** Servers that reject the order of messages, a setting or a schema, in the words of each: the request that follows. */

const fake = await startFakeProvider();
after(fake.close);

type Settings = Partial<ProviderSettings>;

const error = (status: number, message: unknown, more: object = {}): Step => ({
  ...{ status, body: { error: { message, type: 'invalid_request_error', code: null, ...more } } },
});

/** Calls at a server that answers with these steps first: the bodies of all its requests. */
async function requests(steps: readonly Step[], call: object, settings: Settings = {}) {
  const before = fake.calls.length;
  fake.script(...steps, { text: 'Hello.' });
  const answer = await askModel(fake, settings, call);
  const bodies = fake.calls.slice(before).map(({ body }) => body);
  assert.equal(bodies.length, steps.length + 1, 'requests');
  return { answer, bodies, last: bodies.at(-1) };
}

const system = (content: string): Message => ({ role: 'system', content });
const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string): Message => ({ role: 'assistant', content });

test('adjacent system texts are one, without an objection', async () => {
  const messages = [system('A.'), system('B.'), user('Hi'), system('C.'), system('D.'), user('Ho')];
  const { last } = await requests([], { messages });
  const joined = [system('A.\n\nB.'), user('Hi'), system('C.\n\nD.'), user('Ho')];
  assert.deepEqual(last.messages, joined);
});

const later = [system('A.'), user('Hi'), assistant('Ho'), system('B.'), user('Well?')];
const atFirst: [string, Step][] = [
  ['vLLM', error(400, 'System message must be at the beginning.')],
  [
    'llama.cpp, as a fault',
    error(
      500,
      "\n------------\nWhile executing CallExpression at line 85, column 32 in source:\n...first %}↵            {{- raise_exception('System message must be at the beginnin...\n^\nError: Jinja Exception: System message must be at the beginning.",
      { type: 'server_error', code: 500 },
    ),
  ],
  ['Mistral', error(400, "Unexpected role 'system' after role 'assistant'")],
  [
    'a Mistral template, as a fault',
    error(
      500,
      'Jinja Exception: After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.',
    ),
  ],
  [
    'a template',
    error(
      400,
      'Only user and assistant roles are supported, with the exception of an initial optional system message!',
    ),
  ],
  [
    'Perplexity',
    error(
      400,
      'After the (optional) system message(s), user and assistant roles should be alternating.',
    ),
  ],
  [
    'OpenRouter',
    {
      status: 200,
      body: {
        error: {
          code: 400,
          message: 'Provider returned error',
          metadata: { raw: '{"message":"System message must be the first message"}' },
        },
      },
    },
  ],
  ['a gateway', error(503, 'Multiple system messages are not supported')],
];

describe('later system texts are moved to the beginning', () => {
  for (const [name, objection] of atFirst) {
    test(name, async () => {
      const { last, answer } = await requests([objection], { messages: later });
      assert.deepEqual(last.messages, [
        system('A.\n\nB.'),
        ...[user('Hi'), assistant('Ho'), user('Well?')],
      ]);
      assert.deepEqual(answer.settingsNotApplied, []);
    });
  }
});

const without: [string, Step][] = [
  ['vLLM', error(400, 'System role not supported')],
  ['llama.cpp', error(500, 'Jinja Exception: System role not supported', { code: 500 })],
  ['Google', error(400, 'Developer instruction is not enabled for models/gemma-3-27b-it')],
  [
    'OpenAI',
    error(400, "Unsupported value: 'messages[0].role' does not support 'system' with this model.", {
      param: 'messages[0].role',
      code: 'unsupported_value',
    }),
  ],
  [
    'Anthropic',
    error(
      400,
      'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
    ),
  ],
  ['a Mistral template', error(400, 'Only user and assistant roles are supported!')],
  [
    'TGI',
    {
      status: 422,
      body: {
        error:
          'Template error: invalid operation: Conversation roles must alternate user/assistant/user/assistant/... (in <string>:1)',
      },
    },
  ],
  [
    'Bedrock',
    error(400, "This model doesn't support system messages. Try again without system messages."),
  ],
  ['Gemini', error(400, 'Please use a valid role: user, model.')],
];

describe('the system text begins the first text of the user', () => {
  for (const [name, objection] of without) {
    test(name, async () => {
      const { last } = await requests([objection], { system: 'Be brief.', user: 'Hello' });
      assert.deepEqual(last.messages, [user('Be brief.\n\nHello')]);
    });
  }

  test('after it was moved to the beginning', async () => {
    const steps = [
      error(400, 'System role not supported'),
      error(500, 'System role not supported'),
    ];
    const { last } = await requests(steps, { messages: later });
    assert.equal(last.messages[0].content, 'A.\n\nB.\n\nHi');
    assert.deepEqual(last.messages.length, 3);
  });

  test('or is that message', async () => {
    const step = error(400, 'System role not supported');
    const { last } = await requests([step], { system: 'Be brief.', user: '' });
    assert.deepEqual(last.messages, [user('Be brief.')]);
  });
});

const repeated = [system('S.'), user('A'), user('B'), assistant('C'), assistant('D'), user('E')];
const alternate: [string, Step][] = [
  ['vLLM', error(400, 'Conversation roles must alternate user/assistant/user/assistant/...')],
  [
    'llama.cpp',
    error(
      500,
      'Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...',
    ),
  ],
  [
    'DeepSeek',
    error(
      400,
      'deepseek-reasoner does not support successive user or assistant messages (messages[1] and messages[2] in your input). You should interleave the user/assistant messages in the message sequence.',
    ),
  ],
  [
    'Anthropic',
    error(
      400,
      'messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row',
    ),
  ],
  [
    'Bedrock',
    {
      status: 400,
      body: {
        message:
          'A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.',
      },
    },
  ],
  [
    'Databricks',
    error(400, "Chat message input roles must alternate between 'user' and 'assistant'"),
  ],
  ['Gemini', error(400, 'Please ensure that multiturn requests alternate between user and model.')],
];

describe('adjacent messages of one role are joined', () => {
  for (const [name, objection] of alternate) {
    test(name, async () => {
      const { last } = await requests([objection], { messages: repeated });
      const expected = [system('S.'), user('A\n\nB'), assistant('C\n\nD'), user('E')];
      assert.deepEqual(last.messages, expected);
    });
  }

  test('with their images and calls of tools', async () => {
    const image = { image: { variable: 'i', value: 'data:image/png;base64,AA==' } };
    const toolCalls = [{ id: 'c', name: 'f', arguments: {} }];
    const messages: Message[] = [
      ...[user('A'), { role: 'user', content: [{ text: 'B' }, image] } as const],
      ...[assistant('C'), { role: 'assistant', content: '', toolCalls } as const],
      ...[{ role: 'tool', toolCallId: 'c', content: '1' } as const, user('D')],
    ];
    const objection = error(400, 'Conversation roles must alternate');
    const { last } = await requests([objection], { messages });
    const [first, second, ...others] = last.messages;
    assert.equal(first.content[0].text, 'A\n\nB');
    assert.deepEqual([first.content[1].type, first.content.length], ['image_url', 2]);
    assert.deepEqual([second.content, second.tool_calls.length], ['C', 1]);
    assert.deepEqual(
      others.map(({ role }: Message) => role),
      ['tool', 'user'],
    );
  });

  test('after system texts were moved or taken away', async () => {
    const messages = [user('A'), system('S.'), user('B')];
    const objection = error(400, 'Conversation roles must alternate');
    const { last } = await requests([objection, objection, objection], { messages });
    assert.deepEqual(last.messages, [user('S.\n\nA\n\nB')]);
  });
});

type Row = [
  name: string,
  settings: CallSettings & { temperature?: number; topP?: number },
  objection: Step,
  left: string,
];
const effort = { reasoningEffort: 'minimal' } as const;
const rows: Row[] = [
  [
    'OpenAI: value',
    effort,
    error(
      400,
      "Unsupported value: 'minimal' is not supported with the 'gpt-5.1' model. Supported values are: 'none', 'low', 'medium', and 'high'.",
      { param: 'reasoning.effort', code: 'unsupported_value' },
    ),
    'reasoningEffort',
  ],
  [
    'OpenAI: value without a name',
    effort,
    error(400, "Invalid value: 'minimal'. Supported values are: 'low', 'medium', and 'high'.", {
      code: 'invalid_value',
    }),
    'reasoningEffort',
  ],
  [
    'Groq',
    effort,
    error(400, '`reasoning_effort` must be one of `none` or `default`'),
    'reasoningEffort',
  ],
  [
    'Gemini',
    effort,
    error(400, 'Invalid reasoning_effort: minimal.\nValid values are: high, low, medium, none'),
    'reasoningEffort',
  ],
  [
    'Gemini: budget',
    { reasoningEffort: 'none' },
    error(400, 'Budget 0 is invalid. This model only works in thinking mode.'),
    'reasoningEffort',
  ],
  [
    'vLLM',
    effort,
    error(
      400,
      "[{'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), 'msg': \"Input should be 'low', 'medium' or 'high'\", 'input': 'minimal', 'ctx': {'expected': \"'low', 'medium' or 'high'\"}}]",
    ),
    'reasoningEffort',
  ],
  [
    'Mistral',
    effort,
    {
      status: 422,
      body: {
        object: 'error',
        message: {
          detail: [
            {
              type: 'literal_error',
              loc: ['body', 'reasoning_effort'],
              msg: "Input should be 'high' or 'none'",
              input: 'minimal',
            },
          ],
        },
      },
    },
    'reasoningEffort',
  ],
  [
    'xAI: variant',
    effort,
    {
      status: 422,
      body: 'Failed to deserialize the JSON body into the target type: reasoning_effort: unknown variant `minimal`, expected `low` or `high` at line 1 column 99',
    },
    'reasoningEffort',
  ],
  [
    'xAI',
    effort,
    {
      status: 400,
      body: {
        code: 'Client specified an invalid argument',
        error: 'Model grok-4 does not support parameter reasoningEffort.',
      },
    },
    'reasoningEffort',
  ],
  [
    'Moonshot',
    { reasoningEffort: 'xhigh' },
    {
      status: 400,
      body: {
        detail:
          "Validation error for `reasoning_effort`: expected one of `'low' | 'medium' | 'high'`, received `'xhigh'`.",
      },
    },
    'reasoningEffort',
  ],
  [
    'Anthropic',
    effort,
    error(400, 'output_config.effort: This model does not support the effort parameter.'),
    'reasoningEffort',
  ],
  [
    'Anthropic: temperature beside thinking',
    { ...effort, temperature: 0.2 },
    error(400, '`temperature` may only be set to 1 when thinking is enabled.'),
    'temperature',
  ],
  [
    'Anthropic: topP beside thinking',
    { ...effort, topP: 0.5 },
    error(400, '`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.'),
    'topP',
  ],
  [
    'Moonshot: temperature',
    { temperature: 0.2 },
    error(400, 'invalid temperature: only 1 is allowed for this model'),
    'temperature',
  ],
  [
    'Gemini: penalty',
    { frequencyPenalty: 0.5 },
    error(400, 'Penalty is not enabled for models/gemini-2.5-pro', {
      code: 400,
      status: 'INVALID_ARGUMENT',
    }),
    'frequencyPenalty',
  ],
  [
    'LiteLLM',
    { presencePenalty: 0.5, frequencyPenalty: 0.5 },
    error(
      400,
      "litellm.UnsupportedParamsError: gemini does not support parameters: ['presence_penalty'], for model=gemini-2.0-flash-001.",
    ),
    'presencePenalty',
  ],
  [
    'Cerebras',
    { frequencyPenalty: 0.5 },
    {
      status: 400,
      body: {
        message: "property 'body.frequency_penalty' is unsupported",
        type: 'invalid_request_error',
        param: 'frequency_penalty',
        code: 'wrong_api_format',
      },
    },
    'frequencyPenalty',
  ],
  ['xAI: stop', { stop: 'x' }, error(400, 'Argument not supported on this model: stop'), 'stop'],
  [
    'Bedrock: stop',
    { stop: 'x' },
    {
      status: 400,
      body: {
        message:
          "This model doesn't support the stopSequences field. Remove stopSequences and try again.",
      },
    },
    'stop',
  ],
  [
    'Bedrock: topK',
    { topK: 4 },
    {
      status: 400,
      body: {
        message:
          'Malformed input request: extraneous key [top_k] is not permitted, please reformat your input and try again.',
      },
    },
    'topK',
  ],
  [
    'Google: seed',
    { seed: 7 },
    error(400, 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'),
    'seed',
  ],
  [
    'Fireworks: seed',
    { seed: 7 },
    error(400, "Extra inputs are not permitted, field: 'seed', value: 7"),
    'seed',
  ],
  ['Go: seed', { seed: 7 }, { status: 400, body: { error: 'json: unknown field "seed"' } }, 'seed'],
  [
    'a JSON schema: seed',
    { seed: 7 },
    error(400, "Additional properties are not allowed ('seed' was unexpected)"),
    'seed',
  ],
  [
    'OpenAI: tier',
    { serviceTier: 'fast' },
    error(
      400,
      "Invalid value: 'fast'. Supported values are: 'auto', 'default', 'flex', and 'priority'.",
      { param: 'service_tier', code: 'invalid_value' },
    ),
    'serviceTier',
  ],
  [
    'OpenRouter: behind it',
    { temperature: 0.2 },
    error(400, 'Provider returned error', {
      code: 400,
      metadata: {
        raw: '{"error":{"message":"Unsupported parameter: \'temperature\' is not supported with this model.","param":"temperature"}}',
      },
    }),
    'temperature',
  ],
  [
    'OpenRouter: in a 200',
    { temperature: 0.2 },
    {
      status: 200,
      body: { error: { code: 400, message: '`temperature` is deprecated for this model.' } },
    },
    'temperature',
  ],
  [
    'any, with a provider option',
    { providerOptions: { fake: { parallel_tool_calls: false } } },
    error(400, "Unsupported parameter: 'parallel_tool_calls' is not supported with this model."),
    'providerOptions',
  ],
];

describe('a setting that the model does not know, or its value, is left out', () => {
  for (const [name, { temperature = null, topP = null, ...settings }, objection, left] of rows) {
    test(name, async () => {
      const { bodies, answer } = await requests([objection], { temperature, topP, settings });
      assert.deepEqual(answer.settingsNotApplied, [left]);
      const [before, later] = bodies.map((body) => Object.keys(body).length);
      assert.equal(later, Number(before) - 1);
    });
  }

  test('also in a stream', async () => {
    const objection = error(400, '`reasoning_effort` must be one of `none` or `default`');
    const { answer } = await requests([objection], { settings: effort, stream: true });
    assert.deepEqual(answer.settingsNotApplied, ['reasoningEffort']);
  });

  test('but not one whose value is out of range', async () => {
    for (const message of [
      "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.",
      'temperature: Input should be less than or equal to 2',
      'temperature must be in (0.0, 1.0]',
    ]) {
      const before = fake.calls.length;
      fake.script(error(400, message));
      await failedModel(fake, {}, { temperature: 3 });
      assert.equal(fake.calls.length, before + 1);
    }
  });
});

const schema = { type: 'object', properties: { a: { type: 'string' } } } as const;
const grammars: [string, Step][] = [
  [
    'llama.cpp',
    error(400, 'Failed to initialize samplers: failed to parse grammar', { code: 400 }),
  ],
  [
    'llama.cpp, as a fault',
    error(500, 'Failed to parse grammar', { code: 500, type: 'server_error' }),
  ],
  [
    'llama.cpp: schema',
    error(400, "JSON schema conversion failed:\nPattern must start with '^' and end with '$'"),
  ],
  [
    'llama.cpp: stack',
    error(500, 'Unexpected empty grammar stack after accepting piece: { (4913)'),
  ],
  ['vLLM', error(400, 'The provided JSON schema contains features not supported by xgrammar.')],
  [
    'vLLM: guidance',
    error(
      400,
      'Grammar error: Failed to build lark grammar from JSON schema: Unimplemented keys: ["uniqueItems"]',
    ),
  ],
  ['SGLang', error(500, 'Failed to compile json grammar: regex parse error')],
  [
    'Ollama',
    { status: 500, body: { error: 'failed to load model vocabulary required for format' } },
  ],
  [
    'Ollama: old',
    {
      status: 400,
      body: {
        error:
          'json: cannot unmarshal object into Go struct field ChatRequest.format of type string',
      },
    },
  ],
  [
    'LM Studio',
    {
      status: 400,
      body: { error: "Failed to convert structured output schema: 'pattern' is not supported" },
    },
  ],
  [
    'Anthropic',
    error(
      400,
      'The compiled grammar is too large, which would cause performance issues. Simplify your schemas.',
    ),
  ],
  [
    'Groq',
    error(
      400,
      "Failed to validate JSON. Please adjust your prompt. See 'failed_generation' for more details.",
      { code: 'json_validate_failed' },
    ),
  ],
];

describe('a schema that does not become a grammar is asked for by a text', () => {
  for (const [name, objection] of grammars) {
    test(name, async () => {
      const responseFormat = { type: 'json', schema } as const;
      const { bodies, last, answer } = await requests([objection], { responseFormat });
      assert.ok('response_format' in bodies[0] && !('response_format' in last));
      assert.match(last.messages[0].content, /Answer only with JSON/);
      assert.deepEqual(answer.settingsNotApplied, []);
    });
  }

  test('but not without a schema, nor for another fault', async () => {
    const responseFormat = { type: 'json', schema } as const;
    for (const [step, call] of [
      [error(500, 'Failed to parse grammar'), {}],
      [error(500, 'The server had an error.'), { responseFormat }],
    ] as const) {
      const before = fake.calls.length;
      fake.script(step);
      const { code, retryable } = await failedModel(fake, {}, call);
      assert.deepEqual([code, retryable, fake.calls.length - before], ['PROVIDER_ERROR', true, 1]);
    }
  });
});

test('a call of a tool that Groq rejects is tried again, at an unknown cost', async () => {
  const code = 'tool_use_failed';
  fake.script(error(400, "Failed to call a function. See 'failed_generation'.", { code }));
  const failure = await failedModel(fake, {}, { tools: [{ name: 'f' }] });
  assert.deepEqual(
    [failure.code, failure.retryable, failure.cost.known],
    ['PROVIDER_ERROR', true, false],
  );
});
