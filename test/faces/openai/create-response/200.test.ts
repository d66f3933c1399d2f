import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  conversationAgent,
  deployed,
  singleAgent,
  stream,
} from '../../../../harness/openai-agents.ts';
import { startService } from '../../../../harness/service.ts';
import { ModelFailure } from '../../../../src/core/model/model-port.ts';

const service = await startService();
after(service.close);
const { models } = service;
const { key } = await service.key({ permissions: ['execute'] });
const { key: owner } = await service.key();
const path = '/v1/responses';
const limited = await service.key({
  permissions: ['execute'],
  allowedOrigins: ['https://a.example'],
});
const one = await singleAgent(service, { agentName: 'One', agentConfig: { topP: 0.5 } });
const many = await conversationAgent(service, { agentName: 'Many' });

const create = (body: object, headers = {}) => service.call('POST', path, { key, body, headers });
const textOf = ({ body }: { body: { output: { content: { text: string }[] }[] } }) =>
  body.output[0]?.content[0]?.text;
const record = async (id: string) =>
  (await service.call('GET', `${one.path}/executions/${id}`, { key: owner })).body;

test('the message fills the one required variable; settings of the call are not applied', async () => {
  const sent = { input: 'Why?', temperature: 1.5, top_p: 0.1, max_output_tokens: 3 };
  const created = await create({ model: 'one', ...sent, metadata: { a: 'b' }, user: 'u1' });
  assert.equal(created.status, 200);
  const { id, created_at, completed_at, ...response } = created.body;
  assert.deepEqual(response, {
    ...{ object: 'response', status: 'completed', background: false, error: null },
    ...{ incomplete_details: null, instructions: null, model: 'one', parallel_tool_calls: true },
    output: [
      {
        ...{ id: `msg_${id.slice(4)}`, type: 'message', status: 'completed', role: 'assistant' },
        content: [{ type: 'output_text', text: 'Answer: Why?', annotations: [], logprobs: [] }],
      },
    ],
    ...{ previous_response_id: null, prompt: null, store: true, temperature: 1, top_p: 1 },
    ...{ max_output_tokens: null, max_tool_calls: null, presence_penalty: 0, frequency_penalty: 0 },
    ...{ reasoning: { effort: null, summary: null }, text: { format: { type: 'text' } } },
    ...{ tools: [], tool_choice: 'auto', top_logprobs: 0, truncation: 'disabled' },
    usage: {
      ...{ input_tokens: 10, input_tokens_details: { cached_tokens: 0 }, output_tokens: 5 },
      ...{ output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 15 },
    },
    ...{ service_tier: 'default', user: 'u1', safety_identifier: null, prompt_cache_key: null },
    metadata: { a: 'b' },
  });
  assert.ok(completed_at >= created_at);
  const row = await record(id);
  assert.deepEqual([row.status, row.source, row.user], ['success', 'api', 'u1']);
  assert.deepEqual([row.metadata, row.inputVariables], [{ a: 'b' }, { question: 'Why?' }]);
  assert.equal(models.calls.at(-1)?.topP, 0.5);
  assert.equal(models.calls.at(-1)?.maxTokens, null);
});

test('only a key with `read` sees the settings of the agent, in responses, streams and later', async () => {
  const schema = { type: 'object', properties: { own: { type: 'string' } } };
  const tools = [{ name: 'own_tool', description: 'Own.', parameters: { type: 'object' } }];
  await deployed(
    service,
    { user: 'Say {{word}}', tools, toolChoice: 'auto' },
    {
      ...{ agentName: 'Tuned', allowTools: true },
      agentConfig: {
        ...{ temperature: 0.25, topP: 0.75, maxTokens: 321, presencePenalty: 0.5 },
        ...{ frequencyPenalty: 0.125, reasoningEffort: 'low', serviceTier: 'flex' },
        responseFormat: { type: 'json', schema },
      },
    },
  );
  const body = { model: 'tuned', input: '{}', tools: [{ type: 'function', name: 'theirs' }] };
  const send = (by: string) => {
    models.script({ text: '{"own": "x"}' });
    return service.call('POST', path, { key: by, body });
  };
  const settingsOf = (response: Record<string, unknown>) => [
    ...[response.temperature, response.top_p, response.max_output_tokens],
    ...[response.presence_penalty, response.frequency_penalty, response.service_tier],
    ...[(response.reasoning as { effort: string }).effort],
    ...[(response.text as { format: { type: string } }).format.type],
  ];
  const seen = (await send(owner)).body;
  const all = [0.25, 0.75, 321, 0.5, 0.125, 'flex', 'low', 'json_schema'];
  assert.deepEqual(settingsOf(seen), all);
  assert.deepEqual(seen.text.format.schema, schema);
  assert.ok(seen.tools.some(({ name }: { name: string }) => name === 'own_tool'));

  const unset = [1, 1, null, 0, 0, 'default', null, 'text'];
  for (const by of [key, limited.key]) {
    const created = (await send(by)).body;
    const later = (await service.call('GET', `${path}/${created.id}`, { key: by })).body;
    models.script({ text: '{"own": "x"}' });
    const { events: streamed } = await stream(service, path, by, { ...body, stream: true });
    for (const response of [created, later]) assert.deepEqual(settingsOf(response), unset);
    assert.deepEqual(
      created.tools.map(({ name }: { name: string }) => name),
      ['theirs'],
    );
    const responses = streamed.flatMap(({ response }) => response ?? []);
    assert.equal(responses.length, 3);
    for (const response of responses) assert.deepEqual(settingsOf(response), unset);
    const text = JSON.stringify([created, later, streamed]);
    assert.doesNotMatch(text, /own_tool|0\.25|0\.75|\b321\b|0\.125|flex|"low"|json_schema/);
  }
});

test('a format that the caller asks for is echoed, whether the agent has it or not', async () => {
  const schema = { type: 'object', properties: { own: { type: 'string' } } };
  const text = { format: { type: 'json_schema', name: 'x', schema } };
  for (const model of ['one', 'tuned']) {
    models.script({ text: '{"own": "x"}' });
    const { body } = await create({ model, input: 'x', text });
    assert.deepEqual(body.text.format.schema, schema);
  }
});

test('the conversation fills the list of messages of the version, with calls of tools', async () => {
  const input = [
    { role: 'user', content: [{ type: 'input_text', text: 'Weather?' }] },
    { type: 'reasoning', id: 'rs_1', summary: [] },
    { type: 'function_call', call_id: 'c1', name: 'find', arguments: '{"in":"Rome"}' },
    { type: 'function_call_output', call_id: 'c1', output: 'Sun' },
    { role: 'assistant', content: [{ type: 'output_text', text: 'Sunny.' }] },
    { type: 'message', role: 'user', content: 'Thanks' },
  ];
  const created = await create({ model: many.agentId, input });
  assert.deepEqual([created.status, textOf(created)], [200, 'Thanks']);
  assert.equal(created.body.model, many.agentId);
  assert.deepEqual(models.calls.at(-1)?.messages, [
    { role: 'system', content: 'You help with .' },
    { role: 'user', content: 'Weather?' },
    {
      ...{ role: 'assistant', content: '' },
      toolCalls: [{ id: 'c1', name: 'find', arguments: { in: 'Rome' } }],
    },
    { role: 'tool', toolCallId: 'c1', content: 'Sun' },
    { role: 'assistant', content: 'Sunny.' },
    { role: 'user', content: 'Thanks' },
  ]);
});

test('`prompt` names the agent or its prompt, and supplies variables', async () => {
  const variables = { topic: { type: 'input_text', text: 'maths' } };
  for (const prompt of [
    { id: many.slug, variables },
    { id: many.agentId, version: 'v1', variables },
    { id: many.slug, version: '1', variables },
  ]) {
    const { status, body } = await create({ prompt, input: '1 + 1?' });
    assert.deepEqual([status, body.prompt], [200, { version: null, ...prompt }]);
    assert.deepEqual(models.calls.at(-1)?.messages, [
      { role: 'system', content: 'You help with maths.' },
      { role: 'user', content: '1 + 1?' },
    ]);
  }
  const { promptId } = many.prompt;
  const named = await create({
    model: 'many',
    prompt: { id: promptId, version: null },
    input: 'x',
  });
  const expected = { id: promptId, version: null, variables: null };
  assert.deepEqual([named.status, named.body.prompt], [200, expected]);
  const only = await create({ prompt: { id: 'one', variables: { question: 'Alone?' } } });
  assert.equal(textOf(only), 'Answer: Alone?');
  // The same agent by its slug and by its id.
  for (const [model, id] of [
    ['one', one.agentId],
    [one.agentId, 'one'],
  ]) {
    const both = await create({ model, prompt: { id, variables: { question: 'Both?' } } });
    assert.equal(textOf(both), 'Answer: Both?');
  }
});

test('instructions and tools are added if the agent permits them', async () => {
  const agent = await singleAgent(service, { allowInstructions: true, allowTools: true });
  const tool = { type: 'function', name: 'find', parameters: { type: 'object' }, strict: true };
  models.script({
    ...{ text: '', finishReason: 'tool-calls' },
    toolCalls: [{ id: 'c9', name: 'find', arguments: { q: 1 } }],
  });
  const { status, body } = await create({
    ...{ model: agent.slug, instructions: 'In Latin.', tools: [tool] },
    tool_choice: { type: 'function', name: 'find' },
    input: [
      { role: 'developer', content: 'And short.' },
      { role: 'user', content: 'Why?' },
    ],
  });
  assert.equal(status, 200);
  const call = models.calls.at(-1);
  assert.equal(call?.system, 'Be brief.\n\nIn Latin.\n\nAnd short.');
  assert.deepEqual(call?.tools, [{ name: 'find', parameters: { type: 'object' } }]);
  assert.deepEqual(call?.toolChoice, { tool: 'find' });
  assert.deepEqual(body.output, [
    {
      ...{ id: `fc_${body.id.slice(4)}_0`, type: 'function_call', status: 'completed' },
      ...{ call_id: 'c9', name: 'find', arguments: '{"q":1}' },
    },
  ]);
  assert.equal(body.instructions, 'In Latin.\n\nAnd short.');
  assert.deepEqual(
    [body.tools[0].name, body.tool_choice],
    ['find', { type: 'function', name: 'find' }],
  );
});

test('a format of the caller is passed on and validated', async () => {
  const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
  models.script({ text: 'So: {"a":1}' });
  const text = { format: { type: 'json_schema', name: 'x', schema, strict: true } };
  const created = await create({ model: 'one', input: 'x', text });
  assert.deepEqual(created.body.text.format.schema, schema);
  assert.deepEqual(models.calls.at(-1)?.responseFormat, { type: 'json', schema });
  assert.deepEqual((await record(created.body.id)).outputJson, { a: 1 });
  models.script({ text: 'no' }, { text: 'no' });
  const failed = await create({ model: 'one', input: 'x', text });
  assert.deepEqual([failed.status, failed.body.error.code], [200, 'SCHEMA_MISMATCH']);

  const agent = await deployed(
    service,
    { user: '{{q}}', responseFormat: { type: 'json', schema } },
    { agentName: 'Formatted' },
  );
  models.script({ text: '{"a":2}' }, { text: '{"a":3}' });
  for (const format of [text.format, { type: 'json_object' }]) {
    const call = { model: agent.slug, input: 'x', text: { format } };
    const { body } = await service.call('POST', path, { key: owner, body: call });
    assert.equal(body.status, 'completed');
    assert.deepEqual(body.text.format.schema, schema);
  }
});

test('a failed execution is 200 with its error code; a cut answer is incomplete', async () => {
  models.script(new ModelFailure('PROVIDER_AUTH', 'The provider answered 401: key sk-1.'));
  const { status, body } = await create({ model: 'one', input: 'x' });
  assert.deepEqual([status, body.status, body.output], [200, 'failed', []]);
  const message = 'The provider answered 401.';
  assert.deepEqual(body.error, { type: 'server_error', code: 'PROVIDER_AUTH', message });
  models.script({ text: 'cut', finishReason: 'length' });
  const cut = (await create({ model: 'one', input: 'x' })).body;
  assert.deepEqual(
    [cut.status, cut.incomplete_details.reason],
    ['incomplete', 'max_output_tokens'],
  );
});

test('`background` responds at once; the response is read later', async () => {
  const held = models.hold();
  const { status, body } = await create({ model: 'one', input: 'x', background: true });
  assert.equal(status, 200);
  assert.ok(['queued', 'in_progress'].includes(body.status));
  assert.deepEqual([body.background, body.usage, body.output], [true, null, []]);
  await held.arrived;
  held.release({ text: 'done' });
  for (;;) {
    const read = await service.call('GET', `${path}/${body.id}`, { key });
    assert.equal(read.body.background, true);
    if (read.body.status === 'in_progress') continue;
    assert.deepEqual([read.body.status, textOf(read)], ['completed', 'done']);
    break;
  }
});

test('the same Idempotency-Key returns the same response', async () => {
  const headers = { 'idempotency-key': 'k1' };
  const first = await create({ model: 'one', input: 'x' }, headers);
  const again = await create({ model: 'one', input: 'x' }, headers);
  assert.equal(again.body.id, first.body.id);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  const other = await create({ model: 'one', input: 'y' }, headers);
  assert.deepEqual([other.status, other.body.error.code], [422, 'idempotency_key_reused']);
});
