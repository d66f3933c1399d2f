import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ended } from '../../../../harness/agents.ts';
import { makePrompt } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';
import { ModelFailure, noDetails } from '../../../../src/core/model/model-port.ts';

/** `responseFormat`: what counts as JSON, where the value appears, and what a mismatch leads to. */

const service = await startService();
after(service.close);
const { key } = await service.key();

const schema = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'number' } },
  required: ['name', 'age'],
  additionalProperties: false,
};
const responseFormat = { type: 'json', schema };
const good = '{"name":"A","age":5}';

async function agentWith(version: object = { responseFormat }, agentConfig: object = {}) {
  const prompt = await makePrompt(service);
  const body = { user: 'Describe {{name}}.', model: 'cueline/echo', ...version };
  const made = await service.call('POST', `${prompt.path}/versions`, { key, body });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { promptVersionId } = made.body;
  const agent = await service.call('POST', '/api/v1/agents', {
    key,
    body: { agentName: 'A', promptId: prompt.promptId, promptVersionId, agentConfig },
  });
  assert.equal(agent.status, 201, JSON.stringify(agent.body));
  const path = `/api/v1/agents/${agent.body.agentId}`;
  await service.call('POST', `${path}/lifecycle`, { key, body: { action: 'enable-api' } });
  await service.call('POST', `${path}/lifecycle`, { key, body: { action: 'deploy' } });
  return { path, agent: agent.body, version: made.body, prompt };
}

async function execute(path: string, by = key) {
  const variables = { name: 'x' };
  const { body } = await service.call('POST', `${path}/execute`, { key: by, body: { variables } });
  return ended(service, body.statusUrl, by);
}

async function textOf(url: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${service.url}${url}`, { headers })).text();
}

const { path, version, prompt } = await agentWith();
const answer = async (text: string, more: object = {}) => {
  service.models.script({ text, ...more });
  return execute(path);
};

test('record, list and export have the value beside the text; the model is asked for it', async () => {
  const body = await answer(good);
  assert.deepEqual([body.status, body.output, body.outputText], ['success', good, good]);
  assert.deepEqual(body.outputJson, { name: 'A', age: 5 });
  assert.deepEqual(service.models.calls.at(-1)?.responseFormat, responseFormat);
  const list = await service.call('GET', `${path}/executions`, { key });
  assert.deepEqual(list.body.executions[0].outputJson, body.outputJson);
  const csv = await textOf(`${path}/executions/export?format=csv`);
  assert.match(csv, /"\{""name"":""A"",""age"":5\}"/);
});

const readable: [string, string][] = [
  ['blanks around it', `\n ${good}\n`],
  ['a code fence', `\`\`\`json\n${good}\n\`\`\``],
  ['a fence without a language', `\`\`\`\n${good}\n\`\`\``],
  ['a sentence around it', `Here it is:\n\n${good}\n\nAnything else?`],
  ['a fence in a sentence', `Sure!\n\`\`\`json\n${good}\n\`\`\`\nDone.`],
];
for (const [what, text] of readable) {
  test(`reads JSON with ${what}; the text stays as written`, async () => {
    const body = await answer(text);
    assert.deepEqual([body.status, body.output], ['success', text]);
    assert.deepEqual(body.outputJson, { name: 'A', age: 5 });
  });
}

test('a mismatch is sent back once, with the reason', async () => {
  service.models.script({ text: '{"name":"A"}' }, { text: good });
  const body = await execute(path);
  assert.deepEqual([body.status, body.attempts, body.output], ['success', 2, good]);
  const [first, second] = service.models.calls.slice(-2);
  assert.equal(first?.correction, undefined);
  assert.match(second?.correction ?? '', /does not match its schema: .*age/);
  assert.equal(body.attemptList[0].errorCode, 'SCHEMA_MISMATCH');
  assert.equal(body.tokensUsed, 30);
  const prompt = { role: 'user', content: 'Describe x.' };
  const content = `Your previous answer was not accepted. ${second?.correction} Answer again, with nothing but JSON that matches the schema.`;
  assert.deepEqual(body.messages, [prompt, { role: 'user', content }]);
  assert.equal(body.userPrompt, 'Describe x.');
});

test('a text that asks for JSON is in the prompts as sent, also of a failure', async () => {
  const details = { ...noDetails, instruction: 'Answer only with JSON.' };
  const system = { role: 'system', content: 'Answer only with JSON.' };
  const user = { role: 'user', content: 'Describe x.' };
  const body = await answer(good, { details });
  assert.deepEqual([body.systemPrompt, body.userPrompt], [system.content, user.content]);
  assert.deepEqual(body.messages, [system, user]);
  const messages = [{ role: 'system', content: [{ text: 'Be brief.' }] }, user];
  const listed = await agentWith({ responseFormat, user: undefined, messages });
  service.models.script(new ModelFailure('CONTEXT_LENGTH', 'Too long.', { details }));
  const failed = await execute(listed.path);
  const both = 'Be brief.\n\nAnswer only with JSON.';
  assert.deepEqual([failed.status, failed.systemPrompt], ['failed', both]);
  assert.deepEqual(failed.messages, [{ role: 'system', content: both }, user]);
});

const mismatches: [string, object][] = [
  ['no JSON', { text: 'I would rather not.' }],
  ['a missing field', { text: '{"name":"A"}' }],
  ['JSON that was cut off', { text: '{"name":"A","age"', finishReason: 'length' }],
];
for (const [what, step] of mismatches) {
  test(`${what} twice ends as SCHEMA_MISMATCH, with tokens and cost`, async () => {
    const cost = { usd: '0.25', known: true, source: 'table' } as const;
    service.models.script({ ...step, cost }, { ...step, cost }, { text: good });
    const body = await execute(path);
    assert.deepEqual([body.status, body.errorCode], ['failed', 'SCHEMA_MISMATCH']);
    assert.deepEqual([body.attempts, body.tokensUsed, body.costUSD], [2, 30, 0.5]);
    assert.match(body.error, /^The output does not match its schema: /);
    assert.equal('outputJson' in body, false);
    // Uses the step that is left.
    assert.equal((await execute(path)).status, 'success');
  });
}

test('with one attempt a mismatch is not sent again', async () => {
  const once = await agentWith(undefined, { maxAttempts: 1 });
  service.models.script({ text: '{}' });
  const body = await execute(once.path);
  assert.deepEqual([body.errorCode, body.attempts], ['SCHEMA_MISMATCH', 1]);
});

test('numbers stay as the model wrote them', async () => {
  service.models.script({ text: '{"name":"A", "age": 12345678901234567890.50}' });
  const { executionId } = await execute(path);
  const response = await textOf(`${path}/executions/${executionId}`);
  assert.match(response, /"outputJson":\{"name":"A","age":12345678901234567890.50\}/);
});

test('a key without read gets it with the output', async () => {
  const { key: own } = await service.key({ permissions: ['execute'] });
  service.models.script({ text: good });
  assert.deepEqual((await execute(path, own)).outputJson, { name: 'A', age: 5 });
});

test('without a format there is no outputJson, whatever the output', async () => {
  const plain = await agentWith({});
  assert.equal(plain.version.responseFormat, null);
  service.models.script({ text: good });
  const body = await execute(plain.path);
  assert.deepEqual([body.output, 'outputJson' in body], [good, false]);
  assert.ok(!('responseFormat' in (service.models.calls.at(-1) ?? {})));
});

test('the agent overrides the version, keeps the order of names, and can return to it', async () => {
  const own = {
    type: 'json',
    schema: { type: 'object', properties: { zebra: { type: 'string' }, a: { type: 'string' } } },
  };
  const { path: other, agent } = await agentWith(undefined, { responseFormat: own });
  assert.equal(JSON.stringify(agent.agentConfig.responseFormat), JSON.stringify(own));
  service.models.script({ text: '{"zebra":"x"}' });
  assert.deepEqual((await execute(other)).outputJson, { zebra: 'x' });
  const sent = service.models.calls.at(-1)?.responseFormat;
  assert.equal(JSON.stringify(sent), JSON.stringify(own));
  const change = { agentConfig: { responseFormat: null } };
  await service.call('PATCH', other, { key, body: change });
  service.models.script({ text: good });
  assert.deepEqual((await execute(other)).outputJson, { name: 'A', age: 5 });
});

test('a later step of a workflow gets the value', async () => {
  const agentId = path.split('/').at(-1);
  const echo = await agentWith({});
  const definition = {
    steps: [
      { name: 'one', agentId, variables: { name: 'x' } },
      {
        ...{ name: 'two', agentId: echo.agent.agentId, after: ['one'] },
        variables: { name: '{{steps.one.output}}' },
      },
    ],
    output: '{{steps.one.output}}',
  };
  const made = await service.call('POST', '/api/v1/workflows', {
    key,
    body: { name: 'W', definition },
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  service.models.script({ text: `\`\`\`json\n${good}\n\`\`\`` });
  const started = await service.call('POST', `/api/v1/workflows/${made.body.workflowId}/execute`, {
    key,
    body: { input: {} },
  });
  const run = await service.call('GET', `${started.body.statusUrl}?wait=30`, { key });
  assert.equal(run.body.status, 'success', JSON.stringify(run.body));
  assert.deepEqual(run.body.output, { name: 'A', age: 5 });
  const two = run.body.steps.find(({ name }: { name: string }) => name === 'two');
  const url = `/api/v1/agents/${echo.agent.agentId}/executions/${two.executionId}`;
  const { body } = await service.call('GET', url, { key });
  assert.deepEqual(body.inputVariables, { name: { name: 'A', age: 5 } });
});

test('an agent that stores no bodies has it with the output, for the time of the output', async () => {
  const silent = await agentWith();
  await service.call('PATCH', silent.path, { key, body: { storeBodies: false } });
  service.models.script({ text: good });
  assert.deepEqual((await execute(silent.path)).outputJson, { name: 'A', age: 5 });
});

const invalid: [string, object][] = [
  ['another type', { type: 'xml', schema }],
  ['no schema', { type: 'json' }],
  ['an invalid schema', { type: 'json', schema: { type: 'text' } }],
  ['a remote reference', { type: 'json', schema: { $ref: 'https://example.com' } }],
  ['an unknown field', { ...responseFormat, strict: true }],
];
for (const [what, format] of invalid) {
  test(`400 for a version or an agent with ${what}`, async () => {
    const body = { user: 'x', responseFormat: format };
    const response = await service.call('POST', `${prompt.path}/versions`, { key, body });
    assert.deepEqual([response.status, response.body.code], [400, 'INVALID_REQUEST']);
    const change = { agentConfig: { responseFormat: format } };
    const patched = await service.call('PATCH', path, { key, body: change });
    assert.deepEqual([patched.status, patched.body.code], [400, 'INVALID_REQUEST']);
    assert.match(patched.body.message, /agentConfig.responseFormat/);
  });
}

test('the version shows its format, and the same label takes no other one', async () => {
  assert.equal(JSON.stringify(version.responseFormat), JSON.stringify(responseFormat));
  const label = version.promptVersionLabel;
  const body = { label, user: 'Describe {{name}}.', responseFormat: null };
  const again = await service.call('POST', `${prompt.path}/versions`, { key, body });
  assert.equal(again.status, 409);
});

test('a declaration has it; another order of properties is another format', async () => {
  const declarationOf = (format: object) => ({
    prompts: [
      { name: 'Described', versions: [{ label: 'v1', user: 'x', responseFormat: format }] },
    ],
  });
  const apply = (format: object) =>
    service.call('POST', '/api/v1/declaration', {
      key,
      body: { declaration: declarationOf(format) },
    });
  assert.equal((await apply(responseFormat)).status, 200);
  const same = await apply({ schema, type: 'json' });
  assert.deepEqual([same.status, same.body.changes], [200, []]);
  const { name, age } = schema.properties;
  const other = await apply({
    ...responseFormat,
    schema: { ...schema, properties: { age, name } },
  });
  assert.deepEqual([other.status, /another responseFormat/.test(other.body.message)], [409, true]);
  const { body } = await service.call('GET', '/api/v1/declaration', { key });
  const named = body.declaration.prompts.find((one: { name: string }) => one.name === 'Described');
  assert.deepEqual(named.versions[0].responseFormat, responseFormat);
});
