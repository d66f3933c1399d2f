import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended, run } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { createClient } from '../../../../src/client/index.ts';
import { ModelFailure } from '../../../../src/core/model/model-port.ts';

const service = await startService();
after(service.close);
const first = await service.key();
const second = await service.key();
const agent = await addAgent(service, { config: { maxAttempts: 1 } });
const other = await addAgent(service);
const hidden = await addAgent(service, { visibility: 'private' });
const ada = await execute('Ada', { user: 'a' });
const bob = await execute(
  'Bob',
  { user: 'b,c' },
  second.key,
  new ModelFailure('CONTENT_FILTERED', 'no'),
);
const cyd = await execute(
  'Cyd',
  { user: 'c' },
  second.key,
  new ModelFailure('PROVIDER_AUTH', 'no'),
);
const dan = await run(service, other, first.key, { name: 'Dan' });
await run(service, hidden, first.key, { name: 'Eve' });

async function execute(name: string, labels: object, key = first.key, failure?: ModelFailure) {
  if (failure) service.models.script(failure);
  const body = { variables: { name }, ...labels };
  const accepted = await service.call('POST', `${agent.path}/execute`, { key, body });
  return ended(service, accepted.body.statusUrl, key);
}

/** The names of the matches, oldest first. */
async function found(query: Record<string, string>, path = `${agent.path}/executions`) {
  const { key } = await service.key({ userId: await service.member('editor') });
  const { status, body } = await service.call('GET', `${path}?${new URLSearchParams(query)}`, {
    key,
  });
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(body.pagination.total, body.executions.length);
  return body.executions
    .map((one: { inputVariables: { name: string } }) => one.inputVariables.name)
    .reverse();
}

test('several values of a filter match any of them', async () => {
  assert.deepEqual(await found({ status: 'failed,canceled' }), ['Bob', 'Cyd']);
  assert.deepEqual(await found({ status: 'success,failed', source: 'api,dashboard' }), [
    'Ada',
    'Bob',
    'Cyd',
  ]);
  assert.deepEqual(await found({ errorCode: 'PROVIDER_AUTH,MODEL_TIMEOUT' }), ['Cyd']);
  assert.deepEqual(await found({ errorCode: 'PROVIDER_AUTH,CONTENT_FILTERED' }), ['Bob', 'Cyd']);
  assert.deepEqual(await found({ apiKeyId: `${first.apiKeyId},key_nothing` }), ['Ada']);
  assert.deepEqual(await found({ model: 'no/such,cueline/echo' }), ['Ada', 'Bob', 'Cyd']);
  const versions = `${agent.promptVersionId},${other.promptVersionId}`;
  assert.deepEqual(await found({ promptVersionId: versions, status: 'failed' }), ['Bob', 'Cyd']);
});

test('a user whose name contains a comma is found by that name, too', async () => {
  assert.deepEqual(await found({ user: 'a,c' }), ['Ada', 'Cyd']);
  assert.deepEqual(await found({ user: 'b,c' }), ['Bob', 'Cyd']);
  assert.deepEqual(await found({ user: 'b' }), []);
});

test('escaped commas combine such a user with others', async () => {
  assert.deepEqual(await found({ user: 'b\\,c' }), ['Bob']);
  assert.deepEqual(await found({ user: 'b\\,c,a' }), ['Ada', 'Bob']);
  assert.deepEqual(await found({ user: 'b\\\\,c' }), ['Cyd']);
  const cueline = createClient({ baseURL: service.url, key: first.key });
  const { executions } = await cueline.list(agent.agentId, { user: ['b,c', 'x\\'] });
  assert.deepEqual(
    executions.map(({ user }) => user),
    ['b,c'],
  );
});

test('takes 20 short names, and no more', async () => {
  const names = Array.from({ length: 19 }, (_, index) => `u${index}`);
  assert.deepEqual(await found({ user: ['a', ...names].join() }), ['Ada']);
  const query = new URLSearchParams({ user: ['a', 'z', ...names].join() });
  const path = `${agent.path}/executions?${query}`;
  assert.equal((await service.call('GET', path, { key: first.key })).status, 400);
});

test('by agents among those that the caller sees', async () => {
  const all = '/api/v1/executions';
  assert.deepEqual(await found({ agentId: other.agentId }, all), ['Dan']);
  assert.deepEqual(await found({ agentId: `${agent.agentId},${other.agentId}` }, all), [
    'Ada',
    'Bob',
    'Cyd',
    'Dan',
  ]);
  assert.deepEqual(await found({ agentId: `${hidden.agentId},agt_nothing` }, all), []);
});

test('by identifier, together with other filters', async () => {
  const executionId = [ada, bob, dan].map((one) => one.executionId).join();
  assert.deepEqual(await found({ executionId }), ['Ada', 'Bob']);
  assert.deepEqual(await found({ executionId, status: 'failed' }), ['Bob']);
  assert.deepEqual(await found({ executionId, q: 'ada' }), ['Ada']);
  assert.deepEqual(await found({ executionId: 'exe_nothing' }), []);
  assert.deepEqual(await found({ executionId, startDate: cyd.executedAt }), []);
});

test('executions in processing are a status of their own', async () => {
  const held = service.models.hold();
  const { key } = first;
  const body = { variables: { name: 'Flo' } };
  const { body: accepted } = await service.call('POST', `${agent.path}/execute`, { key, body });
  await held.arrived;
  const include = 'processing';
  assert.deepEqual(await found({ status: 'processing', include }), ['Flo']);
  assert.deepEqual(await found({ status: 'processing,failed', include }), ['Bob', 'Cyd', 'Flo']);
  assert.deepEqual(await found({ status: 'failed', include }), ['Bob', 'Cyd']);
  assert.deepEqual(await found({ executionId: accepted.executionId, include }), ['Flo']);
  held.release();
  await ended(service, accepted.statusUrl, key);
  assert.deepEqual(await found({ status: 'processing', include }), []);
});
