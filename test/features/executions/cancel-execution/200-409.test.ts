import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended, run } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const execute = async (one = agent) =>
  (await service.call('POST', `${one.path}/execute`, { key, body: { variables: { name: 'x' } } }))
    .body;

test('ends a running execution and aborts its model call', async () => {
  const heldCall = service.models.hold();
  const { statusUrl } = await execute();
  const call = await heldCall.arrived;
  const aborted = new Promise((resolve) => call.signal.addEventListener('abort', resolve));
  const { status, body } = await service.call('POST', `${statusUrl}/cancel`, { key });
  assert.equal(status, 200);
  assert.equal(body.status, 'canceled');
  assert.equal(body.errorCode, 'CANCELED');
  assert.equal(body.tokensUsed, 0);
  assert.equal(body.costKnown, false);
  await aborted;
  heldCall.release({ text: 'too late' });
  const { body: record } = await service.call('GET', statusUrl, { key });
  assert.deepEqual([record.status, record.userPrompt], ['canceled', 'Hello x']);
});

test('an execution in another process is aborted there', async () => {
  const second = await startService({ sharedWith: service });
  try {
    const heldCall = second.models.hold();
    const { body } = await second.call('POST', `${agent.path}/execute`, {
      key,
      body: { variables: { name: 'x' } },
    });
    const call = await heldCall.arrived;
    const aborted = new Promise((resolve) => call.signal.addEventListener('abort', resolve));
    assert.equal((await service.call('POST', `${body.statusUrl}/cancel`, { key })).status, 200);
    await aborted;
  } finally {
    await second.close();
  }
});

test('an execution that waits for a slot is canceled before its start, at a known cost of zero', async () => {
  const single = await addAgent(service, { config: { maxConcurrency: 1 } });
  const heldCall = service.models.hold();
  const first = await execute(single);
  const second = await execute(single);
  await heldCall.arrived;
  const { body } = await service.call('POST', `${second.statusUrl}/cancel`, { key });
  assert.equal(body.status, 'canceled');
  assert.equal(body.latencyMs, 0);
  assert.equal(body.attempts, 0);
  assert.equal(body.costKnown, true);
  heldCall.release();
  assert.equal((await ended(service, first.statusUrl, key)).status, 'success');
});

test('a canceled execution frees its slot for the next one', async () => {
  const single = await addAgent(service, { config: { maxConcurrency: 1 } });
  const heldCall = service.models.hold();
  const first = await execute(single);
  const second = await execute(single);
  await heldCall.arrived;
  await service.call('POST', `${first.statusUrl}/cancel`, { key });
  assert.equal((await ended(service, second.statusUrl, key)).status, 'success');
});

test('409 for an ended execution, also for a canceled one', async () => {
  const { executionId } = await run(service, agent, key);
  const { status, body } = await service.call(
    'POST',
    `${agent.path}/executions/${executionId}/cancel`,
    { key },
  );
  assert.equal(status, 409);
  assert.equal(body.code, 'ALREADY_ENDED');
  const heldCall = service.models.hold();
  const { statusUrl } = await execute();
  await heldCall.arrived;
  const responses = await Promise.all(
    [1, 2, 3].map(() => service.call('POST', `${statusUrl}/cancel`, { key })),
  );
  assert.deepEqual(responses.map((response) => response.status).sort(), [200, 409, 409]);
});

test('a key without read sees no bodies of what another key started', async () => {
  const heldCall = service.models.hold();
  const { statusUrl } = await execute();
  await heldCall.arrived;
  const { key: other } = await service.key({ permissions: ['cancel'] });
  const { status, body } = await service.call('POST', `${statusUrl}/cancel`, { key: other });
  assert.deepEqual([status, body.status], [200, 'canceled']);
  assert.deepEqual(
    ['inputVariables', 'ipAddress', 'userAgent', 'executedBy'].map((name) => name in body),
    [false, false, false, false],
  );
  const { body: record } = await service.call('GET', statusUrl, { key });
  assert.deepEqual(record.inputVariables, { name: 'x' });
  heldCall.release();
});

test('a key without read sees no bodies of what it started itself, nor the cost if it is for browsers', async () => {
  const { key: own } = await service.key({
    permissions: ['execute', 'cancel'],
    allowedOrigins: ['https://a.example'],
  });
  const held = service.models.hold();
  const call = { key: own, body: { variables: { name: 'x' } } };
  const { body: started } = await service.call('POST', `${agent.path}/execute`, call);
  await held.arrived;
  const { body } = await service.call('POST', `${started.statusUrl}/cancel`, { key: own });
  assert.deepEqual([body.status, body.tokensUsed], ['canceled', 0]);
  for (const name of ['inputVariables', 'userPrompt', 'userAgent', 'executedBy', 'costUSD']) {
    assert.ok(!(name in body), name);
  }
  held.release();
});

test('statistics count each end once', async () => {
  const counted = await addAgent(service);
  const heldCall = service.models.hold();
  const { statusUrl } = await execute(counted);
  await heldCall.arrived;
  await service.call('POST', `${statusUrl}/cancel`, { key });
  await run(service, counted, key);
  const { rows } = await sql<Record<string, unknown>>`
    select level, status::text as status, occurred, recorded from statistics
    where agent_id = ${counted.id} order by level, status`.execute(service.db);
  assert.deepEqual(
    rows,
    ['day', 'hour', 'minute'].flatMap((level) => [
      { level, status: 'canceled', occurred: 1, recorded: 1 },
      { level, status: 'success', occurred: 1, recorded: 1 },
    ]),
  );
});
