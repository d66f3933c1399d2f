import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { makeWorkflow } from '../../../harness/created-workflows.ts';
import { legacy, modern, post } from '../../../harness/mcp.ts';
import { startService } from '../../../harness/service.ts';
import { deployTool } from '../../../harness/tools.ts';
import { inlineCharsMax } from '../../../src/core/compute.ts';
import { ModelFailure } from '../../../src/core/model/model-port.ts';

const service = await startService();
after(service.close);
const { key, apiKeyId } = await service.key();
const greeter = await addAgent(service, { slug: 'greeter' });

/** The result of a call; a client that waits for it and knows no tasks. */
async function call(name: string, args: object, given = key, send = modern) {
  const { body } = await send(service, 'tools/call', { name, arguments: args }, { key: given });
  assert.ok(body.result, JSON.stringify(body));
  return body.result;
}

async function recordOf(result: { _meta: { statusUrl: string } }) {
  const path = new URL(result._meta.statusUrl).pathname;
  return (await service.call('GET', path, { key })).body;
}

test('executes an agent like any other call, and links to its record', async () => {
  const result = await call('greeter', { name: 'Ada' });
  assert.deepEqual(result.content, [{ type: 'text', text: 'Hello Ada' }]);
  assert.notEqual(result.isError, true);
  const record = await recordOf(result);
  assert.equal(record.executionId, result._meta.executionId);
  assert.equal(record.source, 'api');
  assert.equal(record.apiKeyId, apiKeyId);
  assert.deepEqual(record.inputVariables, { name: 'Ada' });
  assert.ok(record.ipAddress);
  assert.ok(record.userAgent);
});

test('also takes the identifier of an agent', async () => {
  assert.equal((await call(greeter.agentId, { name: 'Ada' })).content[0].text, 'Hello Ada');
});

test('keeps numbers and the order of names as sent', async () => {
  const args = '{"name":{"b":12345678901234567890.0,"a":1e2}}';
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greeter","arguments":${args}}}`;
  const response = await post(service, body, { key });
  const text = '{"b":12345678901234567890.0,"a":1e2}';
  assert.equal(response.body.result.content[0].text, `Hello ${text}`);
});

test('takes long arguments', async () => {
  const name = 'x'.repeat(inlineCharsMax);
  const result = await call('greeter', { name });
  assert.equal((await recordOf(result)).inputVariables.name, name);
});

test('returns the structure of an output that has a schema', async () => {
  const schema = { type: 'object', properties: { mood: { type: 'string' } }, required: ['mood'] };
  const responseFormat = { type: 'json', schema };
  await deployTool(service, {
    agent: { slug: 'judge' },
    version: { user: 'Judge', responseFormat },
  });
  for (const send of [modern, legacy]) {
    service.models.script({ text: 'So: {"mood": "good"}' });
    const result = await call('judge', {}, key, send);
    assert.deepEqual(result.structuredContent, { mood: 'good' });
    assert.deepEqual(JSON.parse(result.content[0].text), { mood: 'good' });
  }
  await deployTool(service, {
    agent: { slug: 'lister' },
    version: { user: 'List', responseFormat: { type: 'json', schema: { type: 'array' } } },
  });
  service.models.script({ text: '[1]' }, { text: '[2]' });
  assert.deepEqual((await call('lister', {})).structuredContent, [1]);
  const earlier = await call('lister', {}, key, legacy);
  assert.equal(earlier.structuredContent, undefined);
  assert.equal(earlier.content[0].text, '[2]');
});

test('cuts a long result, and says where the whole is', async () => {
  // Three bytes each: the limit falls into a character.
  const text = '€'.repeat(400_000);
  service.models.script({ text });
  const { content, _meta } = await call('greeter', { name: 'Ada' });
  assert.equal(content[0].text, '€'.repeat(349_525));
  assert.match(content[1].text, /truncated/);
  assert.ok(content[1].text.includes(_meta.statusUrl));
  assert.equal(_meta.truncated, true);
  assert.equal((await recordOf({ _meta })).outputText, text);
});

test('returns the failure of an execution as an error of the tool', async () => {
  service.models.script(new ModelFailure('CONTENT_FILTERED', 'The provider filtered it.'));
  const result = await call('greeter', { name: 'Ada' });
  assert.equal(result.isError, true);
  assert.match(result.content[0].text, /CONTENT_FILTERED/);
  assert.equal((await recordOf(result)).status, 'failed');
});

test('tells a model which arguments are missing or wrong', async () => {
  const missing = await call('greeter', {});
  assert.equal(missing.isError, true);
  assert.match(missing.content[0].text, /missing: name\..*all required arguments: name/s);
  assert.deepEqual(missing._meta.missingVariables, ['name']);
  await deployTool(service, {
    agent: { slug: 'counter' },
    version: { user: '{{count}}', variableSchemas: { count: { type: 'integer' } } },
  });
  const wrong = await call('counter', { count: 'many' });
  assert.equal(wrong.isError, true);
  assert.match(wrong.content[0].text, /Variable "count" does not match its schema.*Correct/s);
});

test('tells a model until when it is refused, as a time and in seconds', async () => {
  const limited = await service.key({ rateLimits: { requestsPerDay: 1 } });
  assert.notEqual((await call('greeter', { name: 'Ada' }, limited.key)).isError, true);
  const { isError, content, _meta } = await call('greeter', { name: 'Ada' }, limited.key);
  assert.equal(isError, true);
  const [{ text }] = content;
  assert.match(text, /Rate limit of the API key exceeded: 1 per day/);
  assert.ok(text.includes(_meta.limitedBy.resetAt), text);
  assert.match(text, new RegExp(`in ${_meta.retryAfter} seconds?`));
  const { body } = await service.call('GET', `${greeter.path}/executions?status=rate_limited`, {
    key,
  });
  assert.equal(body.pagination.total, 1);
});

test('refuses agents that accept no calls, and does not know those that the key does not see', async () => {
  await addAgent(service, { slug: 'paused', stage: 'Paused' });
  const paused = await call('paused', { name: 'Ada' });
  assert.equal(paused.isError, true);
  assert.match(paused.content[0].text, /stage Paused.*a person/s);
  const bound = await service.key({ agentIds: [greeter.agentId] });
  const other = await addAgent(service, { slug: 'other' });
  assert.match(
    (await call(other.agentId, {}, bound.key)).content[0].text,
    /not valid for this agent/,
  );
  const editor = await service.key({ userId: await service.member('editor') });
  await addAgent(service, { slug: 'private', visibility: 'private' });
  for (const name of ['private', 'missing', 'agt_nonsense']) {
    const { body } = await modern(service, 'tools/call', { name }, { key: editor.key });
    assert.equal(body.error.code, -32602, name);
  }
});

test('runs a workflow and returns its output', async () => {
  const definition = {
    input: { required: ['name'] },
    steps: [{ name: 'greet', agentId: greeter.agentId, variables: { name: '{{input.name}}' } }],
    output: { greeting: '{{steps.greet.output}}' },
  };
  await makeWorkflow(service, definition, { slug: 'flow' });
  const { content, _meta } = await call('flow', { name: 'Ada' });
  assert.deepEqual(JSON.parse(content[0].text), { greeting: 'Hello Ada' });
  assert.match(_meta.workflowRunId, /^wfr_/);
  const run = (await service.call('GET', new URL(_meta.statusUrl).pathname, { key })).body;
  assert.equal(run.status, 'success');
  assert.equal(run.trigger, 'api');
  const missing = await call('flow', {});
  assert.match(missing.content[0].text, /Required input is missing: name/);
  await makeWorkflow(
    service,
    { ...definition, output: '{{steps.greet.output}}' },
    { slug: 'text' },
  );
  assert.equal((await call('text', { name: 'Bob' })).content[0].text, 'Hello Bob');
});

test('returns a failed workflow run as an error of the tool', async () => {
  const definition = {
    steps: [{ name: 'greet', agentId: greeter.agentId, variables: { name: 'x' } }],
  };
  await makeWorkflow(service, definition, { slug: 'failing' });
  const error = 'Could not reach the provider: connect ECONNREFUSED 10.0.0.7:11434';
  const { key: own } = await service.key({ permissions: ['execute'] });
  for (const [given, seen] of [
    [key, true],
    [own, false],
  ] as const) {
    service.models.script(new ModelFailure('PROVIDER_ERROR', error, { retryable: false }));
    const { isError, content } = await call('failing', {}, given);
    assert.equal(isError, true);
    assert.match(content[0].text, /STEP_FAILED.*Could not reach the provider/);
    assert.equal(content[0].text.includes('10.0.0.7'), seen);
  }
});

test('returns the first result again for the same Idempotency-Key', async () => {
  const headers = { 'idempotency-key': 'once' };
  const params = { name: 'greeter', arguments: { name: 'Ada' } };
  const [one, two] = [
    await legacy(service, 'tools/call', params, { key, headers }),
    await legacy(service, 'tools/call', params, { key, headers }),
  ];
  assert.equal(one.body.result._meta.executionId, two.body.result._meta.executionId);
});

test('a replay shows nothing to a key that does not see the agent any more', async () => {
  const { agentId, path } = await addAgent(service, { slug: 'hidden' });
  const user = await service.member('editor');
  const { key: theirs } = await service.key({ userId: user, permissions: ['execute'] });
  const options = { key: theirs, headers: { 'idempotency-key': 'hidden' } };
  const params = { name: agentId, arguments: { name: 'SECRET' }, _meta: { progressToken: 1 } };
  const first = await modern(service, 'tools/call', params, options);
  assert.match(JSON.stringify(first.notifications), /Hello SECRET/);
  const change = { key, body: { visibility: 'private' } };
  assert.equal((await service.call('PATCH', path, change)).status, 200);
  for (let n = 0; n < 10; n++) {
    const again = await modern(service, 'tools/call', params, options);
    assert.match(again.body.result.content[0].text, /NOT_FOUND/);
    assert.doesNotMatch(JSON.stringify([again.body, again.notifications]), /SECRET/);
  }
});

test('hides from a key without read what the provider said', async () => {
  const { key: own } = await service.key({ permissions: ['execute'] });
  const message = 'The provider answered with 400: you sent "secret".';
  service.models.script(new ModelFailure('CONTENT_FILTERED', message));
  const { content } = await call('greeter', { name: 'Ada' }, own);
  assert.match(content[0].text, /CONTENT_FILTERED/);
  assert.doesNotMatch(content[0].text, /secret/);
});

test('counts calls in the metrics like those of the API', async () => {
  const count = async (name: string) => {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  };
  const refused = 'cueline_executions_refused_total\\{code="MISSING_VARIABLES"\\}';
  const before = [await count('cueline_executions_accepted_total'), await count(refused)];
  await call('greeter', { name: 'Ada' });
  await call('greeter', {});
  const after = [await count('cueline_executions_accepted_total'), await count(refused)];
  assert.deepEqual(after, [(before[0] ?? 0) + 1, (before[1] ?? 0) + 1]);
});
