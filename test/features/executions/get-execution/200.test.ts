import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended, run } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { ModelFailure } from '../../../../src/core/model/model-port.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service, { config: { maxAttempts: 1, temperature: 0.5 } });
const execute = async () =>
  (await service.call('POST', `${agent.path}/execute`, { key, body: { variables: { name: 'x' } } }))
    .body;

test('while processing, missing fields are absent, and Retry-After gives the poll interval', async () => {
  const heldCall = service.models.hold();
  const { statusUrl } = await execute();
  await heldCall.arrived;
  const { status, headers, body } = await service.call('GET', statusUrl, { key });
  assert.equal(status, 200);
  assert.equal(body.status, 'processing');
  assert.equal(headers.get('retry-after'), '1');
  assert.equal(body.temperature, 0.5);
  assert.ok(body.startedAt);
  for (const field of [
    'output',
    'outputText',
    'tokensUsed',
    'costUSD',
    'latencyMs',
    'completedAt',
    'error',
  ]) {
    assert.ok(!(field in body), field);
  }
  heldCall.release();
  await ended(service, statusUrl, key);
});

test('with wait, the response is sent when the execution ends', async () => {
  const heldCall = service.models.hold();
  const { statusUrl } = await execute();
  await heldCall.arrived;
  const waiting = service.call('GET', `${statusUrl}?wait=60`, { key });
  heldCall.release({ text: 'done' });
  const { body, headers } = await waiting;
  assert.equal(body.status, 'success');
  assert.equal(body.output, 'done');
  assert.equal(headers.get('retry-after'), null);
});

test('with wait, the response is sent at the timeout while the execution continues', async () => {
  const heldCall = service.models.hold();
  const { statusUrl } = await execute();
  const { body } = await service.call('GET', `${statusUrl}?wait=1`, { key });
  assert.equal(body.status, 'processing');
  heldCall.release();
  await ended(service, statusUrl, key);
});

test('an end in one process wakes long polls in another', async () => {
  const second = await startService({ sharedWith: service });
  try {
    const heldCall = service.models.hold();
    const { statusUrl } = await execute();
    const model = await Promise.race([heldCall.arrived.then(() => service.models)]);
    const waiting = second.call('GET', `${statusUrl}?wait=60`, { key });
    heldCall.release();
    assert.equal((await waiting).body.status, 'success');
    assert.ok(model.calls.length > 0);
  } finally {
    await second.close();
  }
});

test('a failed execution shows error and code, and no output', async () => {
  service.models.script(new ModelFailure('PROVIDER_AUTH', 'The provider refused the key.'));
  const record = await run(service, agent, key);
  assert.equal(record.status, 'failed');
  assert.equal(record.errorCode, 'PROVIDER_AUTH');
  assert.equal(record.error, 'The provider refused the key.');
  assert.equal(record.tokensUsed, 0);
  assert.ok(!('output' in record));
});

test('a record names the settings that the model did not accept', async () => {
  service.models.script({ settingsNotApplied: ['temperature', 'topP'] });
  const record = await run(service, agent, key);
  assert.deepEqual(record.settingsNotApplied, ['temperature', 'topP']);
  assert.ok(!('settingsNotApplied' in (await run(service, agent, key))));
});

test('a key without read sees an error without the text of the provider, which may quote the prompt', async () => {
  const { key: own } = await service.key({ permissions: ['execute'] });
  const error = 'The provider answered 400: unexpected "Secret system prompt".';
  service.models.script(new ModelFailure('PROVIDER_ERROR', error));
  const { executionId, ...record } = await run(service, agent, own);
  assert.equal(record.error, 'The provider answered 400.');
  assert.equal(record.errorCode, 'PROVIDER_ERROR');
  const { body } = await service.call('GET', `${agent.path}/executions/${executionId}`, { key });
  assert.equal(body.error, error);
});

test('a key without read sees a network error without its reason, which may name an internal address', async () => {
  const { key: own } = await service.key({ permissions: ['execute'] });
  for (const error of [
    'Could not reach the provider',
    'The connection to the provider broke',
    "The server's credential chain has no credential for the provider 'aws'",
    // As version 0.1.0 wrote it.
    'The provider was not reached',
  ]) {
    const whole = `${error}: connect ECONNREFUSED 10.0.0.7:11434`;
    service.models.script(new ModelFailure('PROVIDER_ERROR', whole, { retryable: false }));
    const { executionId, ...record } = await run(service, agent, own);
    assert.equal(record.error, `${error}.`);
    const { body } = await service.call('GET', `${agent.path}/executions/${executionId}`, { key });
    assert.equal(body.error, whole);
  }
});

test('an unknown price is zero and marked as unknown', async () => {
  service.models.script({ cost: { usd: '0', known: false } });
  const record = await run(service, agent, key);
  assert.equal(record.costUSD, 0);
  assert.equal(record.costKnown, false);
});

test('costs are added as decimals', async () => {
  const summed = await addAgent(service);
  for (let i = 0; i < 10; i++) {
    service.models.script({ cost: { usd: '0.0000001', known: true } });
    await run(service, summed, key);
  }
  const { rows } = await sql<{ cost: string }>`
    select trim_scale(sum(cost_usd))::text as cost from statistics where agent_id = ${summed.id} and level = 'day'`.execute(
    service.db,
  );
  assert.equal(rows[0]?.cost, '0.000001');
});

test('a key with execute only reads the executions it started', async () => {
  const { key: own } = await service.key({ permissions: ['execute'] });
  const record = await run(service, agent, own);
  assert.equal(record.status, 'success');
});

const requestFields = [
  ...['inputVariables', 'systemPrompt', 'userPrompt', 'messages', 'attemptList'],
  ...['ipAddress', 'userAgent', 'executedBy'],
];
const costFields = ['costUSD', 'costKnown'];

for (const [what, { permissions, allowedOrigins }, hidden] of [
  ['with execute alone', { permissions: ['execute'], allowedOrigins: [] }, requestFields],
  [
    'for browsers',
    { permissions: ['execute', 'cancel'], allowedOrigins: ['https://a.example'] },
    [...requestFields, ...costFields],
  ],
  ['with read', { permissions: ['execute', 'read'], allowedOrigins: ['https://a.example'] }, []],
] as const) {
  test(`a key ${what} sees of its executions ${hidden.length === 0 ? 'all' : 'the results'}`, async () => {
    const prompted = await addAgent(service, { system: 'Secret.', user: 'Hello {{name}}' });
    const { key: own } = await service.key({ permissions, allowedOrigins });
    const held = service.models.hold();
    const { body: accepted } = await service.call('POST', `${prompted.path}/execute`, {
      key: own,
      body: { variables: { name: 'x' } },
    });
    await held.arrived;
    const { body: live } = await service.call('GET', accepted.statusUrl, { key: own });
    const waiting = service.call('GET', `${accepted.statusUrl}?wait=60`, { key: own });
    held.release({ text: 'done' });
    const { body: record } = await waiting;
    const { body: whole } = await service.call('GET', accepted.statusUrl, { key });
    for (const name of [...requestFields, ...costFields]) assert.ok(name in whole, name);
    const shown = Object.keys(whole).filter(
      (name) => !(hidden as readonly string[]).includes(name),
    );
    assert.deepEqual(Object.keys(record).sort(), shown.sort());
    assert.deepEqual([record.status, record.output, record.tokensUsed], ['success', 'done', 15]);
    assert.equal('executedBy' in live, hidden.length === 0);
    assert.equal('inputVariables' in live, hidden.length === 0);
  });
}
