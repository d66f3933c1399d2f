import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type OpenAI from 'openai';
import { conversationAgent } from '../../../../harness/openai-agents.ts';
import { startService } from '../../../../harness/service.ts';

/**
 * What the types of the package `openai` allow in a request, each with a value that is taken and, where one would change the answer and
 * is not done, one that is 400. `npm run check` fails if a newer package has more than these tables, or less.
 */

type Responses = OpenAI.Responses.ResponseCreateParams;
type Chat = OpenAI.Chat.ChatCompletionCreateParams;

/** `taken` is accepted with 200; `refused` is 400 `unsupported_parameter`, and null if each value is taken. */
interface Sample {
  readonly taken: unknown;
  readonly refused: unknown;
}
const sample = (taken: unknown, refused: unknown = null): Sample => ({ taken, refused });

const service = await startService();
after(service.close);
const { key } = await service.key({ rateLimits: { requestsPerMinute: 10_000 } });
await conversationAgent(service, { agentName: 'Many', allowInstructions: true, allowTools: true });

const tool = { type: 'function', name: 'find', parameters: { type: 'object' }, strict: false };
const chatTool = { type: 'function', function: { name: 'find' } };
const schema = { type: 'object', properties: { a: { type: 'string' } } };

const responses: Record<keyof Responses, Sample> = {
  access_programs: sample({ cyber: 'standard' }, { cyber: 'daybreak_red' }),
  background: sample(false),
  background_options: sample({ completion_window: '8h', continuation_id: 'x' }),
  context_management: sample([], [{ type: 'compaction', compact_threshold: 1_000 }]),
  conversation: sample(null, { id: 'conv_1' }),
  image: sample({ context_compression: 'auto' }, { context_compression: 'enabled' }),
  include: sample(['reasoning.encrypted_content'], ['message.output_text.logprobs']),
  input: sample('Hi'),
  instructions: sample('Be kind.'),
  max_output_tokens: sample(100),
  max_tool_calls: sample(3),
  metadata: sample({ topic: 'tides' }),
  model: sample('many'),
  moderation: sample(null, { model: 'omni-moderation-latest' }),
  parallel_tool_calls: sample(true),
  previous_response_id: sample(null, 'resp_1'),
  prompt: sample({ id: 'many' }),
  prompt_cache_key: sample('x'),
  prompt_cache_options: sample({ mode: 'explicit', ttl: '12h' }, { prewarm: true }),
  prompt_cache_retention: sample('24h'),
  reasoning: sample({ effort: 'low', summary: 'auto' }),
  safety_identifier: sample('u1'),
  service_tier: sample('flex'),
  store: sample(false),
  stream: sample(false),
  stream_options: sample({ include_obfuscation: false }),
  temperature: sample(0.2),
  text: sample({ format: { type: 'text' }, verbosity: 'low' }, { format: { type: 'grammar' } }),
  tool_choice: sample('auto', { type: 'web_search' }),
  tools: sample([tool], [{ type: 'web_search' }]),
  top_logprobs: sample(0, 5),
  top_p: sample(0.5),
  truncation: sample('disabled', 'auto'),
  user: sample('u1'),
};

const chat: Record<keyof Chat, Sample> = {
  audio: sample(null, { format: 'mp3', voice: 'alloy' }),
  frequency_penalty: sample(1),
  function_call: sample('auto', { name: 'find' }),
  functions: sample([], [{ name: 'find' }]),
  logit_bias: sample({ 50256: -100 }),
  logprobs: sample(false, true),
  max_completion_tokens: sample(100),
  max_tokens: sample(100),
  messages: sample([{ role: 'user', content: 'Hi' }]),
  metadata: sample({ topic: 'tides' }),
  modalities: sample(['text'], ['text', 'audio']),
  model: sample('many'),
  moderation: sample(null, { model: 'omni-moderation-latest' }),
  n: sample(1, 2),
  parallel_tool_calls: sample(true),
  prediction: sample({ type: 'content', content: 'x' }),
  presence_penalty: sample(1),
  prompt_cache_key: sample('x'),
  prompt_cache_options: sample({ mode: 'implicit' }, { prewarm: true }),
  prompt_cache_retention: sample('in_memory'),
  reasoning_effort: sample('low'),
  response_format: sample({ type: 'json_schema', json_schema: { name: 'a', schema } }),
  safety_identifier: sample('u1'),
  seed: sample(1),
  service_tier: sample('priority'),
  stop: sample(['x']),
  store: sample(true),
  stream: sample(false),
  stream_options: sample({ include_usage: true, include_obfuscation: true }),
  temperature: sample(0.2),
  tool_choice: sample('none', { type: 'custom', custom: { name: 'x' } }),
  tools: sample([chatTool], [{ type: 'custom', custom: { name: 'x' } }]),
  top_logprobs: sample(0, 5),
  top_p: sample(0.5),
  user: sample('u1'),
  verbosity: sample('low'),
  web_search_options: sample(null, {}),
};

const apis = {
  responses: { path: '/v1/responses', plain: { model: 'many', input: 'Hi' }, samples: responses },
  chat: {
    ...{ path: '/v1/chat/completions', samples: chat },
    plain: { model: 'many', messages: [{ role: 'user', content: 'Hi' }] },
  },
} as const;

for (const [api, { path, plain, samples }] of Object.entries(apis)) {
  for (const [name, { taken, refused }] of Object.entries(samples)) {
    test(`${api}: ${name}`, async () => {
      // The answer must match it.
      if (name === 'response_format') service.models.script({ text: '{}' });
      const given = await service.call('POST', path, { key, body: { ...plain, [name]: taken } });
      assert.deepEqual([given.status, given.body.error ?? null], [200, null]);
      if (refused === null) return;
      const { status, body } = await service.call('POST', path, {
        key,
        body: { ...plain, [name]: refused },
      });
      const { code, param, message } = body.error;
      assert.deepEqual([status, code], [400, 'unsupported_parameter'], message);
      assert.ok(param.startsWith(name), param);
    });
  }
}

type Item = Exclude<OpenAI.Responses.ResponseInputItem['type'], null | undefined>;
/** `null`: its type is 400, whatever it contains. */
const items: Record<Item, object | null> = {
  additional_tools: null,
  apply_patch_call: null,
  apply_patch_call_output: null,
  code_interpreter_call: null,
  compaction: null,
  compaction_trigger: null,
  computer_call: null,
  computer_call_output: null,
  configuration_update: null,
  custom_tool_call: null,
  custom_tool_call_output: null,
  file_search_call: null,
  function_call: { call_id: 'c', name: 'find', arguments: '{}' },
  function_call_output: { call_id: 'c', output: 'x' },
  image_generation_call: null,
  // Tested with responses to refer to in items.test.ts.
  item_reference: null,
  local_shell_call: null,
  local_shell_call_output: null,
  mcp_approval_request: null,
  mcp_approval_response: null,
  mcp_call: null,
  mcp_list_tools: null,
  message: { role: 'user', content: 'Hi' },
  program: null,
  program_output: null,
  reasoning: { id: 'rs_1', summary: [] },
  shell_call: null,
  shell_call_output: null,
  tool_search_call: null,
  tool_search_output: null,
  web_search_call: null,
};

test('responses: items of every type', async () => {
  const called = { type: 'function_call', ...items.function_call };
  for (const [type, fields] of Object.entries(items)) {
    if (type === 'item_reference') continue;
    const before = type === 'function_call_output' ? [called] : [];
    const input = [{ role: 'user', content: 'Hi' }, ...before, { type, ...fields }];
    const { status, body } = await service.call('POST', '/v1/responses', {
      key,
      body: { model: 'many', input },
    });
    assert.equal(status, fields === null ? 400 : 200, `${type}: ${JSON.stringify(body)}`);
    if (fields === null) assert.equal(body.error.code, 'unsupported_parameter', type);
  }
});

const tools: Record<OpenAI.Responses.Tool['type'], boolean> = {
  apply_patch: false,
  code_interpreter: false,
  computer: false,
  computer_use_preview: false,
  custom: false,
  file_search: false,
  function: true,
  image_generation: false,
  local_shell: false,
  mcp: false,
  namespace: false,
  programmatic_tool_calling: false,
  shell: false,
  tool_search: false,
  web_search: false,
  web_search_2025_08_26: false,
  web_search_preview: false,
  web_search_preview_2025_03_11: false,
};

test('responses: tools of every type', async () => {
  for (const [type, isTaken] of Object.entries(tools)) {
    const { status, body } = await service.call('POST', '/v1/responses', {
      key,
      body: { model: 'many', input: 'Hi', tools: [{ ...tool, type }] },
    });
    assert.equal(status, isTaken ? 200 : 400, type);
    if (!isTaken) assert.equal(body.error.param, 'tools[0]', type);
  }
});

/** Data that an answer does not have is left out; log probabilities would be expected. */
const includes: Record<OpenAI.Responses.ResponseIncludable, boolean> = {
  'code_interpreter_call.outputs': true,
  'computer_call_output.output.image_url': true,
  'file_search_call.results': true,
  'message.input_image.image_url': true,
  'message.output_text.logprobs': false,
  'reasoning.encrypted_content': true,
  'web_search_call.action.sources': true,
  'web_search_call.results': true,
};

test('responses: everything that may be included', async () => {
  for (const [include, isTaken] of Object.entries(includes)) {
    const body = { model: 'many', input: 'Hi', include: [include] };
    const { status } = await service.call('POST', '/v1/responses', { key, body });
    assert.equal(status, isTaken ? 200 : 400, include);
  }
});

type Role = OpenAI.Chat.ChatCompletionMessageParam['role'];
const messages: Record<Role, readonly object[] | null> = {
  assistant: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hi' },
  ],
  developer: [
    { role: 'developer', content: 'Be kind.' },
    { role: 'user', content: 'Hi' },
  ],
  function: null,
  system: [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'Hi' },
  ],
  tool: [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      tool_calls: [{ id: 'c', ...chatTool, function: { name: 'find', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c', content: 'x' },
  ],
  user: [{ role: 'user', content: 'Hi' }],
};

type Part = OpenAI.Chat.ChatCompletionContentPart['type'];
const png = 'data:image/png;base64,iVBORw0KGgo=';
const parts: Record<Part, object | null> = {
  file: { file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
  image_url: { image_url: { url: png, detail: 'low' } },
  input_audio: null,
  text: { text: 'Hi' },
};

test('chat: messages of every role, and parts of every type', async () => {
  const send = (sent: unknown) =>
    service.call('POST', '/v1/chat/completions', { key, body: { model: 'many', messages: sent } });
  for (const [role, sent] of Object.entries(messages)) {
    const { status } = await send(sent ?? [{ role, name: 'find', content: 'x' }]);
    assert.equal(status, sent === null ? 400 : 200, role);
  }
  for (const [type, fields] of Object.entries(parts)) {
    const { status, body } = await send([{ role: 'user', content: [{ type, ...fields }] }]);
    assert.equal(status, fields === null ? 400 : 200, `${type}: ${JSON.stringify(body)}`);
  }
});

type Query = OpenAI.Responses.ResponseRetrieveParams & OpenAI.Responses.InputItemListParams;
const query: Record<keyof Query, string> = {
  after: '',
  include: 'include[]=reasoning.encrypted_content&include[]=message.input_image.image_url',
  include_obfuscation: 'include_obfuscation=false',
  limit: 'limit=5',
  order: 'order=asc',
  starting_after: 'starting_after=0',
  stream: 'stream=false',
};

test('parameters of the query, also those that other clients add', async () => {
  const body = { model: 'many', input: 'Hi' };
  const { body: made } = await service.call('POST', '/v1/responses?api-version=2026-01-01', {
    key,
    body,
  });
  const all = `${Object.values(query).filter(Boolean).join('&')}&api-version=preview&beta=1`;
  for (const [method, path] of [
    ['GET', `/v1/responses/${made.id}?${all}`],
    ['GET', `/v1/responses/${made.id}/input_items?${all}`],
    ['GET', `/v1/models?${all}`],
    ['GET', `/v1/models/many?${all}`],
    ['POST', `/v1/responses/${made.id}/cancel?${all}`],
    ['DELETE', `/v1/responses/${made.id}?${all}`],
  ] as const) {
    const { status, body: answer } = await service.call(method, path, { key });
    assert.equal(status, 200, `${path}: ${JSON.stringify(answer)}`);
  }
  const chatBody = { ...apis.chat.plain, model: 'many' };
  const completion = await service.call('POST', '/v1/chat/completions?api-version=1', {
    key,
    body: chatBody,
  });
  assert.equal(completion.status, 200);
});
