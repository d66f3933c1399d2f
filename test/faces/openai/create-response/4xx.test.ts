import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { conversationAgent, deployed, singleAgent } from '../../../../harness/openai-agents.ts';
import { startService } from '../../../../harness/service.ts';
import { toId } from '../../../../src/core/id.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const one = await singleAgent(service, { agentName: 'One' });
await conversationAgent(service, { agentName: 'Many' });
await deployed(service, { user: '{{a}} {{b}}' }, { agentName: 'Two' });
await deployed(service, { user: 'Hi' }, { agentName: 'None' });

function create(body: unknown, options: { key?: string } = { key }) {
  return service.call('POST', '/v1/responses', { ...options, body });
}

async function refused(body: unknown, options?: { key: string }) {
  const { status, body: answer, headers } = await create(body, options);
  const { type, param, code, message } = answer.error;
  return { status, type, param, code, message, headers };
}

test('400 for more variables than a call may have says so', async () => {
  const variables = Object.fromEntries(Array.from({ length: 10_001 }, (_, n) => [`n${n}`, 'x']));
  const { promptId } = one.prompt;
  const { status, code, message } = await refused({ prompt: { id: promptId, variables } });
  assert.deepEqual([status, code], [400, 'invalid_value']);
  assert.match(message, /"prompt\.variables" is not valid: There are 10001 variables/);
});

test('400 unsupported_parameter for what would change the answer', async () => {
  const tool = { type: 'function', name: 'find' };
  for (const [parameter, value] of [
    ['instructions', 'Be kind.'],
    ['tools', [tool]],
    ['tools[0]', [{ type: 'web_search' }]],
    ['previous_response_id', 'resp_1'],
    ['conversation', 'conv_1'],
    ['truncation', 'auto'],
    ['top_logprobs', 3],
    ['include', ['message.output_text.logprobs']],
    ['tool_choice', 'required'],
    [
      'input',
      [
        { role: 'system', content: 'x' },
        { role: 'user', content: 'x' },
      ],
    ],
    ['input[0].content[0]', [{ role: 'user', content: [{ type: 'input_image' }] }]],
    ['input[0]', [{ type: 'web_search_call', id: 'x' }]],
  ] as const) {
    const field = parameter.replace(/\[.*/, '');
    const { status, code, param, type } = await refused({
      ...{ model: 'one', input: 'x', [field]: value },
    });
    assert.deepEqual(
      [status, code, param, type],
      [400, 'unsupported_parameter', parameter, 'invalid_request_error'],
    );
  }
  assert.equal(service.models.calls.length, 0);
});

test('empty ones and settings of the model are accepted', async () => {
  const { status } = await create({
    ...{ model: 'one', input: 'x', instructions: '', tools: [], tool_choice: 'auto' },
    ...{ previous_response_id: null, temperature: 2, reasoning: { effort: 'low' }, store: false },
    ...{ include: ['reasoning.encrypted_content'], parallel_tool_calls: true, metadata: {} },
  });
  assert.equal(status, 200);
});

test('400 says what the agent accepts', async () => {
  const earlier = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
    { role: 'user', content: 'c' },
  ];
  for (const [model, input, message] of [
    ['one', earlier, /takes one message of the user, no conversation/],
    ['two', 'x', /requires the variables a, b/],
    ['none', 'x', /requires no variable/],
  ] as const) {
    const { status, code, param, message: text } = await refused({ model, input });
    assert.deepEqual([status, code, param], [400, 'invalid_value', 'input']);
    assert.match(text, message);
  }
  const missing = await refused({ model: 'one' });
  assert.deepEqual([missing.status, missing.code], [400, 'missing_required_parameter']);
  const filled = { prompt: { id: 'two', variables: { a: '1' } }, input: 'x' };
  assert.equal((await create(filled)).status, 200);
});

test('400 for parameters that are unknown, malformed or contradict each other', async () => {
  for (const [body, code, param] of [
    [{ model: 'one', input: 'x', seed: 1 }, 'unknown_parameter', 'seed'],
    [{ input: 'x' }, 'missing_required_parameter', 'model'],
    [{ model: 1, input: 'x' }, 'invalid_type', 'model'],
    [{ model: 'one', input: 'x', stream: 'yes' }, 'invalid_type', 'stream'],
    [{ model: 'one', input: 5 }, 'invalid_value', 'input'],
    [{ model: 'one', input: 'x', metadata: { a: 1 } }, 'invalid_value', 'metadata'],
    [{ model: 'one', input: 'x', user: 'u'.repeat(129) }, 'invalid_value', 'user'],
    [{ prompt: { id: 'one', version: 'v9' }, input: 'x' }, 'invalid_value', 'prompt.version'],
    [{ model: 'one', prompt: { id: 'many' }, input: 'x' }, 'invalid_value', 'prompt.id'],
    [[], 'invalid_type', null],
  ] as const) {
    const answer = await refused(body);
    assert.deepEqual([answer.status, answer.code, answer.param], [400, code, param]);
  }
  const broken = await refused('{');
  assert.deepEqual([broken.status, broken.code], [400, 'invalid_json']);
  const nul = await refused({ model: 'one', input: 'a\u0000b' });
  assert.equal(nul.status, 400);
});

test('only a key with `read` learns from a refusal what the agent pins and has', async () => {
  const tool = { name: 'own_tool', parameters: { type: 'object' } };
  await deployed(
    service,
    { user: 'Say {{word}}', label: 'own-label', tools: [tool] },
    { agentName: 'Tuned', allowTools: true },
  );
  const executing = await service.key({ permissions: ['execute'] });
  for (const [body, param, own] of [
    [{ prompt: { id: 'tuned', version: 'v9' }, input: 'x' }, 'prompt.version', /own-label/],
    [{ model: 'tuned', input: 'x', tools: [{ type: 'function', ...tool }] }, 'tools', /"own_tool"/],
  ] as const) {
    const told = await refused(body);
    assert.deepEqual([told.status, told.param], [400, param]);
    assert.match(told.message, own);
    const untold = await refused(body, executing);
    assert.deepEqual([untold.status, untold.code, untold.param], [400, told.code, param]);
    assert.doesNotMatch(untold.message, /own[-_](label|tool)|v1|\b1\b/);
  }
});

test('401, 403 and 404 have the codes of OpenAI', async () => {
  const { status, body } = await create({ model: 'one', input: 'x' }, {});
  assert.deepEqual([status, body.error.code], [401, 'invalid_api_key']);
  const revoked = await service.key({ revokedAt: new Date(0) });
  assert.equal((await refused({ model: 'one' }, revoked)).code, 'invalid_api_key');
  const reader = await service.key({ permissions: ['read'] });
  const denied = await refused({ model: 'one', input: 'x' }, reader);
  assert.deepEqual([denied.status, denied.code], [403, 'insufficient_permissions']);
  for (const model of ['nothing', 'agt_nothing', 'x'.repeat(300)]) {
    const unknown = await refused({ model, input: 'x' });
    assert.deepEqual(
      [unknown.status, unknown.code, unknown.param],
      [404, 'model_not_found', 'model'],
    );
  }
  const paused = await singleAgent(service, { agentName: 'Paused' });
  await service.call('POST', `${paused.path}/lifecycle`, { key, body: { action: 'disable' } });
  const inactive = await refused({ model: 'paused', input: 'x' });
  assert.deepEqual([inactive.status, inactive.code], [403, 'agent_not_active']);
});

test('a refused body names its agent in `prompt.id`, too: the agent comes before the body', async () => {
  const hidden = await singleAgent(service, { agentName: 'Hidden' });
  const restricted = await service.key({ agentIds: [one.agentId] });
  const invalid = (id: string) => ({ prompt: { id, variables: { x: 'x' } }, stream: 'yes' });
  for (const [id, expected] of [
    [hidden.agentId, [401, 'invalid_api_key']],
    ['hidden', [404, 'model_not_found']],
    ['pmpt_nothing', [404, 'model_not_found']],
    ['one', [400, 'invalid_type']],
  ] as const) {
    const { status, code } = await refused(invalid(id), restricted);
    assert.deepEqual([status, code], expected, id);
  }
  const revoked = await service.key({ revokedAt: new Date(0) });
  assert.equal((await refused({ prompt: { id: 'hidden' } }, revoked)).status, 401);
  const path = `${hidden.path}/executions?status=unauthorized`;
  const { body } = await service.call('GET', path, { key });
  assert.deepEqual(
    body.executions.map(({ apiKeyId }: { apiKeyId: string }) => apiKeyId).sort(),
    [revoked.apiKeyId, restricted.apiKeyId].sort(),
  );
});

test('400 names the field within `prompt`', async () => {
  for (const [field, value] of [
    ['id', 5],
    ['version', 1],
    ['variables', 'x'],
  ] as const) {
    const { status, code, param } = await refused({ prompt: { id: 'one', [field]: value } });
    assert.deepEqual([status, code, param], [400, 'invalid_type', `prompt.${field}`]);
  }
});

test('429 in the order of execute, before the body; a long wait is not to be retried', async () => {
  // None at all: between two calls a minute may end.
  const limited = await service.key({ rateLimits: { requestsPerMinute: 0 } });
  const minute = await refused({ model: 'one', input: 5 }, limited);
  assert.deepEqual(
    [minute.status, minute.code, minute.type],
    [429, 'rate_limit_exceeded', 'requests'],
  );
  const seconds = Number(minute.headers.get('retry-after'));
  assert.ok(seconds >= 1 && seconds <= 60);
  assert.equal(minute.headers.get('x-should-retry'), null);
  assert.ok(minute.headers.get('ratelimit'));

  const daily = await service.key({ rateLimits: { requestsPerDay: 0 } });
  const day = await refused({ model: 'one', input: 'x' }, daily);
  const wait = Number(day.headers.get('retry-after'));
  assert.equal(day.headers.get('x-should-retry'), wait > 60 ? 'false' : null);

  await service.call('PATCH', one.path, { key, body: { rateLimits: { requestsPerHour: 0 } } });
  assert.equal((await refused({ model: 'one', input: 5 })).status, 429);
  await service.call('PATCH', one.path, { key, body: { rateLimits: { requestsPerHour: null } } });
});

test('unknown paths and methods have errors of the same form', async () => {
  for (const [method, path, status] of [
    ['GET', '/v1/nothing', 404],
    ['GET', '/v1/chat/completions', 405],
  ] as const) {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(service.url + path, { method, headers });
    const { error } = (await response.json()) as { error: { type: string } };
    assert.deepEqual([response.status, error.type], [status, 'invalid_request_error']);
  }
});

async function setVisibility(visibility: string): Promise<void> {
  const change = { user: service.ownerId, body: { visibility } };
  assert.equal((await service.call('PATCH', one.path, change)).status, 200);
}

for (const [path, call] of [
  ['/v1/responses', { input: 'x' }],
  ['/v1/chat/completions', { messages: [{ role: 'user', content: 'x' }] }],
] as const) {
  test(`401 on ${path} for a key that is revoked while it waits`, async () => {
    const { key: leaving, id } = await service.key({ permissions: ['execute'] });
    const held = service.models.hold();
    const response = service.call('POST', path, { key: leaving, body: { model: 'one', ...call } });
    await held.arrived;
    const revoke = `/api/v1/keys/${toId('key', id)}/revoke`;
    assert.equal((await service.call('POST', revoke, { user: service.ownerId })).status, 200);
    held.release();
    assert.equal((await response).status, 401);
  });

  test(`404 on ${path} for a key that stops seeing the agent while it waits`, async () => {
    const user = await service.member('editor');
    const { key: theirs } = await service.key({ userId: user, permissions: ['execute'] });
    const held = service.models.hold();
    const response = service.call('POST', path, { key: theirs, body: { model: 'one', ...call } });
    await held.arrived;
    await setVisibility('private');
    held.release();
    const { status, body } = await response;
    await setVisibility('public');
    assert.deepEqual([status, body.error.code], [404, 'response_not_found']);
  });

  for (const isStream of [false, true]) {
    const how = isStream ? 'as a stream' : 'at once';
    test(`404 on ${path} ${how} for a replay by a key that does not see the agent any more`, async () => {
      const user = await service.member('editor');
      const { key: theirs } = await service.key({ userId: user, permissions: ['execute'] });
      const headers = { 'idempotency-key': `hidden ${path} ${isStream}` };
      const send = (model: string) =>
        fetch(service.url + path, {
          method: 'POST',
          headers: {
            ...headers,
            ...{ authorization: `Bearer ${theirs}`, 'content-type': 'application/json' },
          },
          body: JSON.stringify({ model, ...call, ...(isStream && { stream: true }) }),
        });
      const first = await send('one');
      assert.equal(first.status, 200);
      await first.text();
      await setVisibility('private');
      const again = [await send('one'), await send(one.agentId)];
      await setVisibility('public');
      const codes = await Promise.all(
        again.map(async (response) => JSON.parse(await response.text()).error.code),
      );
      assert.deepEqual(codes, ['model_not_found', 'response_not_found']);
      assert.ok(again.every(({ status }) => status === 404));
    });
  }
}
