import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makePrompt } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';
import { toId } from '../../../../src/core/id.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/agents';
const prompt = await makePrompt(service, { user: 'Hi {{name}}, {{tone}} {{mood}}' });
const pin = { promptId: prompt.promptId, promptVersionId: prompt.versionIds[0] };

async function create(input: object, caller?: { user: string }) {
  const { key } = await service.key();
  const body = { agentName: 'A', ...pin, ...input };
  return service.call('POST', path, { ...(caller ?? { key }), body });
}

test('creates a Draft with its API off and all placeholders required, and returns its location', async () => {
  const created = await create({});
  assert.equal(created.status, 201);
  const { agentId, createdAt, updatedAt, ...rest } = created.body;
  assert.deepEqual(rest, {
    ...{ agentName: 'A', slug: 'a', ...pin, promptVersionLabel: 'v1', agentConfig: {} },
    ...{ requiredVariables: ['name', 'tone', 'mood'], optionalVariables: [] },
    ...{ defaultVariableValues: {}, apiEnabled: false, visibility: 'private' },
    rateLimits: { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: null },
    ...{ status: 'Draft', archived: false, allowedActions: ['enable-api', 'archive'] },
    ...{ project: null, category: null, tags: [], description: null, allowedOrigins: [] },
    retention: { recordsDays: null, bodiesDays: null },
    ...{ storeBodies: true, allowInstructions: false, allowTools: false },
    ...{ aliases: [], versionAliases: {} },
    createdBy: toId('user', service.ownerId),
  });
  assert.equal(created.headers.get('location'), `${path}/${agentId}`);
  assert.equal(created.headers.get('etag'), '"1"');
  const { key } = await service.key();
  const read = await service.call('GET', `${path}/${agentId}`, { key });
  assert.deepEqual(read.body, created.body);
  assert.equal(read.headers.get('etag'), '"1"');
});

test('every field is stored', async () => {
  const input = {
    agentName: 'Ünï "quoted" \\ {a,b}',
    agentConfig: {
      ...{ model: 'openai/gpt-5.5', temperature: 0.1, maxTokens: 5, topP: 0.9 },
      ...{ maxAttempts: 1, timeoutMs: 1_000, maxConcurrency: 7 },
    },
    ...{ requiredVariables: ['name'], optionalVariables: ['tone', 'unused'] },
    defaultVariableValues: { mood: { deep: [1, 'a"b', null, { 2: 1, 1: 2 }] }, extra: false },
    visibility: 'public',
    rateLimits: { requestsPerMinute: 1, requestsPerHour: 0, requestsPerDay: null },
    ...{ project: 'P', category: 'C', tags: ['b', 'a,"\\{}', 'NULL'], description: 'D' },
    allowedOrigins: ['https://a.example', 'http://localhost:3000'],
  };
  const { body } = await create(input);
  for (const [field, value] of Object.entries(input)) assert.deepEqual(body[field], value, field);
});

test('an optional variable or one with a default is not required; null is no default', async () => {
  const { body } = await create({
    optionalVariables: ['tone'],
    defaultVariableValues: { mood: 'calm', name: null },
  });
  assert.deepEqual(body.requiredVariables, ['name']);
});

test('a name with a meaning in JavaScript is an ordinary variable', async () => {
  const odd = await makePrompt(service, { user: '{{__proto__}}{{constructor}}' });
  const { key } = await service.key();
  const body = JSON.stringify({
    ...{ agentName: 'A', promptId: odd.promptId, promptVersionId: odd.versionIds[0] },
    defaultVariableValues: { x: 1 },
  }).replace('"x"', '"__proto__"');
  const created = await service.call('POST', path, { key, body });
  assert.deepEqual([created.status, created.body.requiredVariables], [201, ['constructor']]);
  assert.deepEqual(Object.entries(created.body.defaultVariableValues), [['__proto__', 1]]);
});

test('the model may come from the agent only', async () => {
  const { promptId, versionIds } = await makePrompt(service, { user: 'x', model: null });
  const input = {
    promptId,
    promptVersionId: versionIds[0],
    agentConfig: { model: 'cueline/echo' },
  };
  assert.equal((await create(input)).status, 201);
});

test('any version of the prompt can be pinned, and is the first pin', async () => {
  const two = await makePrompt(service, { user: 'old' }, { user: 'new', label: 'newer' });
  const [promptVersionId] = two.versionIds;
  const { body } = await create({ promptId: two.promptId, promptVersionId });
  const { key } = await service.key();
  const { pins } = (await service.call('GET', `${path}/${body.agentId}/pins`, { key })).body;
  assert.deepEqual(
    pins.map((one: { promptVersionId: string }) => one.promptVersionId),
    [promptVersionId],
  );
  assert.equal(pins[0].pinnedBy, toId('user', service.ownerId));
});

test('its limits apply from the first execution on', async () => {
  const { body } = await create({
    optionalVariables: ['name', 'tone', 'mood'],
    rateLimits: { requestsPerDay: 1 },
  });
  const { key } = await service.key();
  const at = `${path}/${body.agentId}`;
  await service.call('POST', `${at}/lifecycle`, { key, body: { action: 'enable-api' } });
  const call = { key, body: { variables: {} } };
  assert.equal((await service.call('POST', `${at}/execute`, call)).status, 202);
  assert.equal((await service.call('POST', `${at}/execute`, call)).status, 429);
});

test('an editor’s session creates it, and the editor is its creator', async () => {
  const user = await service.member('editor');
  const { status, body } = await create({}, { user });
  assert.deepEqual([status, body.createdBy], [201, toId('user', user)]);
});
