import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../../harness/agents.ts';
import { type CreatedAgent, makeAgent, makePrompt, move } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';
import { fromId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();

async function patch({ path }: { path: string }, body: object) {
  const response = await service.call('PATCH', path, { key, body });
  assert.equal(response.status, 200, JSON.stringify(response.body));
  return response.body;
}

async function fresh(input: object = {}): Promise<CreatedAgent> {
  return makeAgent(service, await makePrompt(service, { user: 'Hi {{name}}' }), { ...input });
}

test('changes only the sent fields, and the ETag', async () => {
  const agent = await fresh({ project: 'p', tags: ['a'], description: 'd', category: 'c' });
  const before = (await service.call('GET', agent.path, { key })).body;
  const sent = { agentName: 'New', visibility: 'public', tags: [], allowedOrigins: ['http://a.b'] };
  const response = await service.call('PATCH', agent.path, { key, body: sent });
  assert.equal(response.headers.get('etag'), '"2"');
  assert.deepEqual(response.body, { ...before, ...sent, updatedAt: response.body.updatedAt });
  const cleared = await patch(agent, { project: null, category: null, description: null });
  assert.deepEqual([cleared.project, cleared.category, cleared.description], [null, null, null]);
  assert.deepEqual(cleared, (await service.call('GET', agent.path, { key })).body);
});

test('a change without a difference keeps the ETag', async () => {
  const agent = await fresh({ tags: ['a'], agentConfig: { model: 'a/b', topP: 0.5 } });
  const before = await service.call('GET', agent.path, { key });
  const { agentName, tags, agentConfig, rateLimits, defaultVariableValues } = before.body;
  const all = { agentName, tags, agentConfig, rateLimits, defaultVariableValues };
  for (const body of [{}, all, { agentConfig: { topP: 0.5, maxAttempts: null } }]) {
    const response = await service.call('PATCH', agent.path, { key, body });
    assert.deepEqual([response.body, response.headers.get('etag')], [before.body, '"1"']);
  }
  const defaults = async (defaultVariableValues: object) =>
    service.call('PATCH', agent.path, { key, body: { defaultVariableValues } });
  await defaults({ name: 'x', more: 'y' });
  assert.equal((await defaults({ more: 'y', name: 'x' })).headers.get('etag'), '"3"');
});

test('agentConfig is merged, and null removes a field', async () => {
  const agent = await fresh({ agentConfig: { model: 'a/b', topP: 0.5, maxAttempts: 2 } });
  const merged = await patch(agent, { agentConfig: { topP: null, temperature: 0 } });
  assert.deepEqual(merged.agentConfig, { model: 'a/b', maxAttempts: 2, temperature: 0 });
  const removed = await patch(agent, { agentConfig: { model: null, timeoutMs: null } });
  assert.deepEqual(removed.agentConfig, { maxAttempts: 2, temperature: 0 });
  assert.deepEqual((await patch(agent, { agentConfig: {} })).agentConfig, removed.agentConfig);
});

test('models replace the model, which shows the first of them, and the other way round', async () => {
  const agent = await fresh({ agentConfig: { model: 'a/b' } });
  const models = ['a/c', 'a/d'];
  const many = await patch(agent, { agentConfig: { models } });
  assert.deepEqual(many.agentConfig, { model: 'a/c', models });
  // What was read can be sent back.
  assert.deepEqual(
    (await patch(agent, { agentConfig: many.agentConfig })).agentConfig,
    many.agentConfig,
  );
  const one = await patch(agent, { agentConfig: { model: 'a/b' } });
  assert.deepEqual(one.agentConfig, { model: 'a/b' });
  await patch(agent, { agentConfig: { models, fallbackOn: ['EMPTY_OUTPUT'] } });
  const none = await patch(agent, { agentConfig: { models: null, fallbackOn: null } });
  assert.deepEqual(none.agentConfig, {});
});

test('an omitted rate limit window is unchanged', async () => {
  const agent = await fresh({ rateLimits: { requestsPerMinute: 1, requestsPerHour: 2 } });
  const { rateLimits } = await patch(agent, {
    rateLimits: { requestsPerMinute: null, requestsPerDay: 3 },
  });
  assert.deepEqual(rateLimits, {
    requestsPerMinute: null,
    requestsPerHour: 2,
    requestsPerDay: 3,
  });
});

test('pins another version, records it, and uses it from the next execution on', async () => {
  const prompt = await makePrompt(service, { user: 'old {{name}}' }, { user: 'new {{name}}' });
  const agent = await makeAgent(service, prompt);
  await move(service, agent, 'enable-api');
  const [, promptVersionId] = prompt.versionIds;
  const pinned = await patch(agent, { promptVersionId });
  assert.deepEqual([pinned.promptVersionId, pinned.promptVersionLabel], [promptVersionId, 'v2']);
  const call = { key, body: { variables: { name: 'you' } } };
  const { body } = await service.call('POST', `${agent.path}/execute`, call);
  assert.equal((await ended(service, body.statusUrl, key)).output, 'new you');
  const { pins } = (await service.call('GET', `${agent.path}/pins`, { key })).body;
  assert.deepEqual(
    pins.map((one: { number: number }) => one.number),
    [2, 1],
  );
});

test('pinning the pinned version records nothing', async () => {
  const agent = await fresh();
  await patch(agent, { promptVersionId: agent.prompt.versionIds[0], agentName: 'B' });
  const { pagination } = (await service.call('GET', `${agent.path}/pins`, { key })).body;
  assert.equal(pagination.total, 1);
});

test('variable lists and version are validated together', async () => {
  const prompt = await makePrompt(service, { user: '{{a}}' }, { user: '{{b}}' });
  const agent = await makeAgent(service, prompt);
  const body = { promptVersionId: prompt.versionIds[1], requiredVariables: ['b'] };
  assert.deepEqual((await patch(agent, body)).requiredVariables, ['b']);
});

test('the API can be switched in Testing and Deployed', async () => {
  const agent = await fresh({ optionalVariables: ['name'] });
  await move(service, agent, 'enable-api', 'deploy');
  const execute = async () =>
    (await service.call('POST', `${agent.path}/execute`, { key, body: { variables: {} } })).status;
  const off = await patch(agent, { apiEnabled: false });
  assert.deepEqual([off.status, off.apiEnabled, await execute()], ['Deployed', false, 403]);
  const on = await patch(agent, { apiEnabled: true });
  assert.deepEqual([on.apiEnabled, await execute()], [true, 202]);
});

test('deployed and archived agents accept every change', async () => {
  const deployed = await addAgent(service);
  assert.equal((await patch(deployed, { agentName: 'Live' })).agentName, 'Live');
  const archived = await addAgent(service, { stage: 'Paused', archived: true });
  assert.equal((await patch(archived, { agentName: 'Old' })).archived, true);
});

test('concurrent changes to different fields are all applied', async () => {
  const agent = await fresh();
  const changes = [
    { agentName: 'N' },
    { project: 'P' },
    { agentConfig: { topP: 0.5 } },
    { agentConfig: { temperature: 1 } },
    { rateLimits: { requestsPerDay: 5 } },
    { tags: ['t'] },
  ];
  await Promise.all(changes.map((change) => patch(agent, change)));
  const { body, headers } = await service.call('GET', agent.path, { key });
  const { agentName, project, agentConfig, rateLimits, tags } = body;
  assert.deepEqual([agentName, project, tags], ['N', 'P', ['t']]);
  assert.deepEqual(agentConfig, { topP: 0.5, temperature: 1 });
  assert.equal(rateLimits.requestsPerDay, 5);
  assert.equal(headers.get('etag'), '"7"');
});

test('making another member’s agent private returns it once, then 404', async () => {
  const agent = await addAgent(service);
  const user = await service.member('editor');
  const body = { visibility: 'private' };
  const response = await service.call('PATCH', agent.path, { user, body });
  assert.deepEqual([response.status, response.body.visibility], [200, 'private']);
  assert.equal((await service.call('PATCH', agent.path, { user, body })).status, 404);
});

test('a key that is limited to an agent changes it', async () => {
  const agent = await fresh();
  const tied = await service.key({ agentIds: [agent.agentId], permissions: ['manage'] });
  const body = { agentName: 'Tied' };
  const response = await service.call('PATCH', agent.path, { key: tied.key, body });
  assert.equal(response.body.agentName, 'Tied');
});

test('a new limit includes earlier usage', async () => {
  const agent = await addAgent(service, { rateLimits: { requestsPerDay: 2 } });
  const execute = async () => {
    const call = { key, body: { variables: { name: 'x' } } };
    return (await service.call('POST', `${agent.path}/execute`, call)).status;
  };
  assert.deepEqual([await execute(), await execute(), await execute()], [202, 202, 429]);
  await patch(agent, { rateLimits: { requestsPerDay: 3 } });
  assert.deepEqual([await execute(), await execute()], [202, 429]);
  await patch(agent, { rateLimits: { requestsPerDay: null } });
  assert.equal(await execute(), 202);
});

test('the counter row of the agent stays the same', async () => {
  const agent = await fresh();
  await patch(agent, { rateLimits: { requestsPerDay: 3 } });
  const { rows } = await sql`
    select from limits where subject = ${fromId('agent', agent.agentId)}`.execute(service.db);
  assert.equal(rows.length, 1);
});
