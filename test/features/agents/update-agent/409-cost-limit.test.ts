import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { addBudget } from '../../../../harness/budgets.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const patch = (path: string, agentConfig: object) =>
  service.call('PATCH', path, { key, body: { agentConfig } });

test('a limit of cost is a number above 0, and null removes it', async () => {
  const { path } = await addAgent(service);
  for (const maxCostUSD of [0, -1, '1', 1_000_001]) {
    assert.equal((await patch(path, { maxCostUSD })).status, 400);
  }
  const set = await patch(path, { maxCostUSD: 0.05 });
  assert.equal(set.body.agentConfig.maxCostUSD, 0.05);
  const removed = await patch(path, { maxCostUSD: null });
  assert.equal(removed.body.agentConfig.maxCostUSD, undefined);
});

test('an agent with provider options that set an output limit takes none', async () => {
  const providerOptions = { openai: { maxCompletionTokens: 9 } };
  const { path } = await addAgent(service, { config: { providerOptions } });
  const { status, body } = await patch(path, { maxCostUSD: 0.05 });
  assert.deepEqual([status, body.code], [409, 'CONFLICT']);
  assert.match(body.message, /"providerOptions\.openai\.maxCompletionTokens"/);
  const { path: limited } = await addAgent(service, { config: { maxCostUSD: 1 } });
  assert.equal((await patch(limited, { providerOptions })).status, 409);
});

test('an agent whose provider adds an output limit to each call takes none', async () => {
  const bodyExtra = { max_tokens: 100_000 };
  await service.call('PUT', '/api/v1/providers/gateway', {
    key,
    body: { kind: 'openai', apiKey: 'k', bodyExtra },
  });
  const { path } = await addAgent(service, { model: 'gateway/m' });
  const { status, body } = await patch(path, { maxCostUSD: 0.05 });
  assert.deepEqual([status, body.code], [409, 'CONFLICT']);
  assert.match(body.message, /"bodyExtra\.max_tokens".*provider 'gateway'/);
  const { path: limited } = await addAgent(service, { config: { maxCostUSD: 1 } });
  const models = ['cueline/echo', 'gateway/m'];
  assert.equal((await patch(limited, { models })).status, 409);
  const later = { key, body: { description: 'Another' } };
  assert.equal((await service.call('PATCH', limited, later)).status, 200);
});

const options = { openai: { maxCompletionTokens: 9 } };
const putProvider = (name: string, bodyExtra: object, by: object = { key }) =>
  service.call('PUT', `/api/v1/providers/${name}`, {
    ...{ ...by, body: { kind: 'openai', apiKey: 'k', bodyExtra } },
  });

test('under a budget, no change gives an agent an option with which no limit can hold', async () => {
  const own = await service.workspace();
  const by = { user: own.ownerId };
  const { workspaceId, ownerId } = own;
  const at = { db: service.db, workspaceId, ownerId };
  const agent = await addAgent(at);
  const put = await putProvider('gateway', { options: { num_predict: 9 } }, by);
  assert.equal(put.status, 200);
  const send = (method: string, path: string, body: object) =>
    service.call(method, path, { ...by, body });
  const create = (agentConfig: object) =>
    send('POST', '/api/v1/agents', { agentName: 'New', promptId, promptVersionId, agentConfig });
  const { body: read } = await service.call('GET', agent.path, by);
  const { promptId, promptVersionId } = read;
  const versions = `/api/v1/prompts/${promptId}/versions`;
  const { body: version } = await send('POST', versions, {
    ...{ user: 'Hello {{name}}', model: 'openai/m', providerOptions: options },
  });
  const pin = { promptVersionId: version.promptVersionId };
  const archived = await addAgent(at, {
    ...{ config: { providerOptions: options }, stage: 'Paused', archived: true },
  });
  const changes = [
    () => send('PATCH', agent.path, { agentConfig: { providerOptions: options } }),
    () => send('PATCH', agent.path, { agentConfig: { models: ['cueline/echo', 'gateway/m'] } }),
    () => send('PATCH', agent.path, pin),
    () => create({ providerOptions: options }),
    () => create({ model: 'gateway/m' }),
    () => send('POST', `${archived.path}/lifecycle`, { action: 'restore' }),
  ];
  const budgetId = await addBudget(at, { limitUSD: 1 });
  for (const change of changes) {
    const { status, body } = await change();
    assert.deepEqual([status, body.code], [409, 'CONFLICT'], JSON.stringify(body));
    assert.match(body.message, /^A budget counts calls of the agent ".*"\. With the option/);
  }
  const fitting = { agentConfig: { temperature: 0.5 } };
  assert.equal((await send('PATCH', agent.path, fitting)).status, 200);
  await sql`update budgets set enabled = false where id = ${budgetId}`.execute(service.db);
  for (const change of changes) assert.ok((await change()).status < 300);
});

test('a provider of an agent under a limit takes no such option, wherever it is in its body', async () => {
  const limits = { maxCostUSD: 1, models: ['cueline/echo', 'nested/m'], model: 'cueline/echo' };
  await addAgent(service, { config: limits });
  for (const bodyExtra of [{ max_tokens: 9 }, { generationConfig: { maxOutputTokens: 9 } }]) {
    const { status, body } = await putProvider('nested', bodyExtra);
    assert.deepEqual([status, body.code], [409, 'CONFLICT']);
    assert.match(body.message, /^The agent "Agent" has "maxCostUSD"\. .*provider 'nested'/);
    assert.equal((await putProvider('other', bodyExtra)).status, 200);
  }
  assert.equal((await service.call('GET', '/api/v1/providers/nested', { key })).status, 404);
  assert.equal((await putProvider('nested', { store: false })).status, 200);
});

test('what an earlier version has stored of a provider counts by its names', async () => {
  await putProvider('older', { options: { num_predict: 9 } });
  const { path } = await addAgent(service, { model: 'older/m' });
  await sql`update providers set body_extra_names = '{store}' where name = 'older'`.execute(
    service.db,
  );
  assert.equal((await patch(path, { maxCostUSD: 1 })).status, 200);
  await sql`update providers set body_extra_names = '{n}' where name = 'older'`.execute(service.db);
  assert.equal((await patch(path, { maxCostUSD: 2 })).status, 409);
});
