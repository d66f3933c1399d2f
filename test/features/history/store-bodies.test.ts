import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended, run, type TestAgent } from '../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../harness/created-workflows.ts';
import { addRecords, dayMs } from '../../../harness/records.ts';
import { runRetentionRound } from '../../../harness/retention-round.ts';
import { startService } from '../../../harness/service.ts';
import { ModelFailure, noCost, noUsage } from '../../../src/core/model/model-port.ts';
import { sql } from '../../../src/db/sql.ts';

/** Agents that store no bodies: inputs live as long as the execution, and the output a little longer. */

const service = await startService();
after(service.close);
const { db, call, models } = service;
const { key } = await service.key();

async function bare(options = {}): Promise<TestAgent> {
  const agent = await addAgent(service, { system: 'Speak to {{name}}', ...options });
  await sql`update agents set store_bodies = false where id = ${agent.id}`.execute(db);
  return agent;
}

const later = () =>
  sql`update transient_outputs set ended_at = ended_at - interval '15 minutes'`.execute(db);

test('variables and prompts are removed at the end, the output 15 minutes later', async () => {
  const agent = await bare();
  const record = await run(service, agent, key, { name: 'secret' });
  assert.equal(record.status, 'success');
  assert.equal(record.output, 'Hello secret');
  assert.ok(!('inputVariables' in record));
  assert.ok(!('systemPrompt' in record) && !('userPrompt' in record));
  assert.ok(!('ipAddress' in record) && !('userAgent' in record));
  const path = `${agent.path}/executions/${record.executionId}`;
  await runRetentionRound(db, service.database);
  assert.equal((await call('GET', path, { key })).body.output, 'Hello secret');
  await later();
  await runRetentionRound(db, service.database);
  const { body } = await call('GET', path, { key });
  assert.equal(body.status, 'success');
  assert.equal(body.tokensUsed, 15);
  assert.ok(!('output' in body) && !('outputText' in body));
  const { rows } = await sql<{ text: string }>`
    select e::text as text from executions e where agent_id = ${agent.id}`.execute(db);
  assert.ok(!rows[0]?.text.includes('secret'));
  const { rows: kept } = await sql`select from transient_outputs`.execute(db);
  assert.equal(kept.length, 0);
});

test('the output is listed while it is kept, never searched, and deleted with its record', async () => {
  const agent = await bare();
  const record = await run(service, agent, key, { name: 'secret' });
  const list = async ({ path }: TestAgent, query: string) => {
    const { body } = await call('GET', `${path}/executions?${query}`, { key });
    return body.executions.map((one: { outputText?: string }) => one.outputText);
  };
  assert.deepEqual(await list(agent, 'limit=5'), ['Hello secret']);
  assert.deepEqual(await list(agent, 'q=secret'), []);
  await call('DELETE', `${agent.path}/executions/${record.executionId}`, { key });
  const { rows } = await sql`select from transient_outputs`.execute(db);
  assert.equal(rows.length, 0);
  for (const [other, found] of [
    [agent, 0],
    [await addAgent(service), 1],
  ] as const) {
    const heldCall = models.hold();
    const { body } = await call('POST', `${other.path}/execute`, {
      ...{ key, body: { variables: { name: 'secret' } } },
    });
    await heldCall.arrived;
    assert.equal((await list(other, 'q=secret&include=processing')).length, found);
    heldCall.release();
    await ended(service, body.statusUrl, key);
  }
});

test('failed and canceled executions keep no bodies', async () => {
  const agent = await bare();
  models.script(
    new ModelFailure('PROVIDER_AUTH', 'No.', { retryable: false, usage: noUsage, cost: noCost }),
  );
  const failed = await run(service, agent, key, { name: 'secret' });
  assert.equal(failed.status, 'failed');
  const heldCall = models.hold();
  const { body } = await call('POST', `${agent.path}/execute`, {
    ...{ key, body: { variables: { name: 'secret' } } },
  });
  await heldCall.arrived;
  assert.deepEqual((await call('GET', body.statusUrl, { key })).body.inputVariables, {
    name: 'secret',
  });
  await call('POST', `${body.statusUrl}/cancel`, { key });
  heldCall.release();
  const { rows } = await sql<{ text: string }>`
    select e::text as text from executions e where agent_id = ${agent.id}`.execute(db);
  assert.equal(rows.length, 2);
  for (const { text } of rows) assert.ok(!text.includes('secret'));
});

const quoting = () =>
  new ModelFailure('PROVIDER_AUTH', 'The provider answered 401: secret: no.\nAt all.');

test('images and files are removed with the bodies of their record', async () => {
  const agent = await addAgent(service);
  await sql`update agents set bodies_days = 7 where id = ${agent.id}`.execute(db);
  const one = { workspaceId: service.workspaceId, agentId: agent.id, status: 'success' } as const;
  const [old, bare, young] = await addRecords(db, [
    { ...one, atMs: Date.now() - 9 * dayMs },
    { ...one, atMs: Date.now() - 8 * dayMs },
    { ...one, atMs: Date.now() - 6 * dayMs },
  ]);
  await sql`update executions set files = '[{"variable":"photo"}]', file_data = '{}'
    where agent_id = ${agent.id}`.execute(db);
  // Of an agent that stores no bodies.
  await sql`update executions set input_variables = null, system_prompt = null, user_prompt = null, output = null,
    ip_address = null, user_agent = null, file_data = null where id = ${bare}`.execute(db);
  await runRetentionRound(db, service.database);
  const { rows } = await sql<{ id: string }>`
    select id from executions where agent_id = ${agent.id} and (files is not null or file_data is not null)`.execute(
    db,
  );
  assert.ok(old);
  assert.deepEqual(
    rows.map(({ id }) => id),
    [young],
  );
});

test('the text of a provider is removed, its status is kept', async () => {
  models.script(quoting(), quoting());
  const kept = await run(service, await addAgent(service), key);
  assert.equal(kept.error, 'The provider answered 401: secret: no.\nAt all.');
  const record = await run(service, await bare(), key);
  assert.deepEqual(
    [record.errorCode, record.error],
    ['PROVIDER_AUTH', 'The provider answered 401.'],
  );
});

test('the text of a provider is removed with the bodies of its record', async () => {
  const agent = await addAgent(service);
  await sql`update agents set bodies_days = 7 where id = ${agent.id}`.execute(db);
  const one = { workspaceId: service.workspaceId, agentId: agent.id, status: 'canceled' } as const;
  const [old, young, own] = await addRecords(db, [
    { ...one, atMs: Date.now() - 8 * dayMs },
    { ...one, atMs: Date.now() - 6 * dayMs },
    { ...one, atMs: Date.now() - 9 * dayMs },
  ]);
  const said = 'The provider answered 401: secret: no.\nAt all.';
  await sql`
    update executions set error = ${said}, input_variables = null, system_prompt = null, user_prompt = null
    where id = any (${[old, young]}::uuid[])`.execute(db);
  await runRetentionRound(db, service.database);
  const { rows } = await sql<{ id: string; error: string }>`
    select id, error from executions where agent_id = ${agent.id}`.execute(db);
  const errors = new Map(rows.map(({ id, error }) => [id, error]));
  assert.deepEqual(
    [old, young, own].map((id) => errors.get(id ?? '')),
    ['The provider answered 401.', said, 'Made by a test.'],
  );
});

test('a workflow run never contains the text of a provider, only the record of its step does', async () => {
  models.script(quoting());
  const { path } = await makeWorkflow(service, greeting((await addAgent(service)).agentId));
  const { body } = await call('POST', `${path}/execute`, { key, body: { input: { name: 'x' } } });
  const { body: failed } = await call('GET', `${body.statusUrl}?wait=30`, { key });
  assert.equal(failed.error, 'Step "greet" failed: The provider answered 401.');
  assert.equal(failed.steps[0].error, 'The provider answered 401.');
});

test('an execution follows the setting at its acceptance', async () => {
  const agent = await bare();
  const heldCall = models.hold();
  const { body } = await call('POST', `${agent.path}/execute`, {
    ...{ key, body: { variables: { name: 'you' } } },
  });
  await heldCall.arrived;
  await sql`update agents set store_bodies = true where id = ${agent.id}`.execute(db);
  heldCall.release();
  assert.ok(!('inputVariables' in (await ended(service, body.statusUrl, key))));
  assert.deepEqual((await run(service, agent, key)).inputVariables, { name: 'you' });
});
