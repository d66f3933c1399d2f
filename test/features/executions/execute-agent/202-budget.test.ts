import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../../harness/agents.ts';
import { addBudget, addPrice, windowsOf } from '../../../../harness/budgets.ts';
import { startService } from '../../../../harness/service.ts';
import { ModelFailure, unknownCost } from '../../../../src/core/model/model-port.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const model = 'cueline/echo';
const boundUsd = 0.001;
await addPrice(service, { model, perToken: 0.0001 });
const config = { maxTokens: 10 };
const costly = { cost: { usd: String(boundUsd), known: true } } as const;

const call = async (path: string, key: string, more: object = {}) =>
  service.call('POST', `${path}/execute`, { key, body: { variables: { name: 'x' }, ...more } });

test('what a call did not cost is free for the next one, and a refusal is given only after folding', async () => {
  const agent = await addAgent(service, { model, config });
  await addBudget(service, { limitUSD: 0.0016, agentIds: [agent.id] });
  const { key } = await service.key();
  for (let count = 0; count < 3; count++) {
    service.models.script({ cost: { usd: '0.0003', known: true } });
    const { status, body } = await call(agent.path, key);
    assert.equal(status, 202);
    await ended(service, body.statusUrl, key);
  }
  const { status, body } = await call(agent.path, key);
  assert.equal(status, 429);
  assert.equal(body.limitedBy.reason, 'spent');
  assert.deepEqual([body.limitedBy.settledUSD, body.limitedBy.reservedUSD], [0.0009, 0]);
});

test('a call that is running is in the way for a moment only', async () => {
  const agent = await addAgent(service, { model, config });
  await addBudget(service, { limitUSD: 0.0015, agentIds: [agent.id] });
  const { key } = await service.key();
  const held = service.models.hold();
  const { body: first } = await call(agent.path, key);
  await held.arrived;
  const { status, headers, body } = await call(agent.path, key);
  assert.equal(status, 429);
  assert.equal(body.limitedBy.reason, 'reserved');
  assert.equal(headers.get('retry-after'), '3');
  held.release({ cost: { usd: '0.0001', known: true } });
  await ended(service, first.statusUrl, key);
  assert.equal((await call(agent.path, key)).status, 202);
});

test('a total budget that is spent refuses for good: 403, without Retry-After', async () => {
  const agent = await addAgent(service, { model, config });
  await addBudget(service, { limitUSD: 0.0005, agentIds: [agent.id], period: 'total' });
  const { key } = await service.key();
  const { status, headers, body } = await call(agent.path, key);
  assert.deepEqual([status, body.code, headers.get('retry-after')], [403, 'BUDGET_EXCEEDED', null]);
  assert.deepEqual([body.limitedBy.window, body.limitedBy.resetAt], ['total', null]);
});

test('a refusal is recorded and consumes no AI Action; a replay reserves nothing', async () => {
  const agent = await addAgent(service, { model, config });
  const budgetId = await addBudget(service, { limitUSD: boundUsd, agentIds: [agent.id] });
  const { key } = await service.key();
  const used = async () => (await service.call('GET', '/api/v1/usage', { key })).body.actionsUsed;
  const before = await used();
  const headers = { 'idempotency-key': 'once' };
  const body = { variables: { name: 'x' } };
  service.models.script(costly);
  const first = await service.call('POST', `${agent.path}/execute`, { key, body, headers });
  const again = await service.call('POST', `${agent.path}/execute`, { key, body, headers });
  assert.deepEqual([again.status, again.body.executionId], [202, first.body.executionId]);
  await ended(service, first.body.statusUrl, key);
  assert.equal((await call(agent.path, key)).status, 429);
  assert.equal(await used(), before + 1);
  const { rows } = await sql<{ status: string; errorCode: string }>`
    select status, error_code from executions where agent_id = ${agent.id} order by id desc limit 1`.execute(
    service.db,
  );
  assert.deepEqual(rows, [{ status: 'rate_limited', errorCode: 'BUDGET_EXCEEDED' }]);
  const [window] = await windowsOf(service.db, budgetId);
  assert.deepEqual([window?.calls, window?.reserved], [1, '0']);
});

test('a canceled call keeps its bound as spent, a failed one without usage nothing', async () => {
  const agent = await addAgent(service, { model, config });
  const budgetId = await addBudget(service, { limitUSD: 1, agentIds: [agent.id] });
  const { key } = await service.key();
  const held = service.models.hold();
  const { body: canceled } = await call(agent.path, key);
  await held.arrived;
  await service.call('POST', `${canceled.statusUrl}/cancel`, { key });
  await ended(service, canceled.statusUrl, key);
  const [kept] = await windowsOf(service.db, budgetId);
  assert.deepEqual([kept?.settled, kept?.reserved, kept?.unknownCalls], ['0.001', '0', 1]);
  service.models.script(new ModelFailure('PROVIDER_AUTH', 'No.'));
  const { body: failed } = await call(agent.path, key);
  assert.equal((await ended(service, failed.statusUrl, key)).status, 'failed');
  const [same] = await windowsOf(service.db, budgetId);
  assert.deepEqual([same?.settled, same?.reserved, same?.calls], ['0.001', '0', 2]);
});

test('each retry reserves before it is sent, and what broke off is kept', async () => {
  const agent = await addAgent(service, { model, config });
  const budgetId = await addBudget(service, { limitUSD: 1, agentIds: [agent.id] });
  const { key } = await service.key();
  const broken = new ModelFailure('PROVIDER_ERROR', 'Broken.', { cost: unknownCost });
  service.models.script(broken, { cost: { usd: '0.0012', known: true } });
  const { body } = await call(agent.path, key);
  const record = await ended(service, body.statusUrl, key);
  assert.equal(record.status, 'success');
  const [window] = await windowsOf(service.db, budgetId);
  assert.deepEqual(window, {
    ...{ bucket: '', reserved: '0', settled: '0.0022', calls: 2, unknownCalls: 1 },
  });
  assert.deepEqual([record.reservedUSD, record.overrunUSD], [0.002, 0.0002]);
});

/** What has reserved 0.001 is rejected by its provider, and its price doubles before it is sent again. */
async function callWhosePriceRises(path: string, key: string) {
  const setPerMillion = (usd: number) =>
    sql`update prices set output_per_million = ${usd} where model = ${model}`.execute(service.db);
  service.models.script(async () => {
    await setPerMillion(200);
    throw new ModelFailure('PROVIDER_RATE_LIMITED', 'Not now.', { rejected: true });
  });
  const { body } = await call(path, key);
  const record = await ended(service, body.statusUrl, key);
  await setPerMillion(100);
  return record;
}

test('what a call has reserved is not in its own way when its price rises before it is sent', async () => {
  const agent = await addAgent(service, { model, config });
  const budgetId = await addBudget(service, { limitUSD: 0.002, agentIds: [agent.id] });
  const { key } = await service.key();
  const record = await callWhosePriceRises(agent.path, key);
  assert.deepEqual([record.status, record.reservedUSD, record.overrunUSD], ['success', 0.002, 0]);
  assert.deepEqual(await windowsOf(service.db, budgetId), [
    { bucket: '', reserved: '0', settled: '0', calls: 1, unknownCalls: 0 },
  ]);
});

test('a price that rises beyond what is left refuses the call before it is sent again', async () => {
  const agent = await addAgent(service, { model, config });
  const budgetId = await addBudget(service, { limitUSD: 0.0019, agentIds: [agent.id] });
  const { key } = await service.key();
  const record = await callWhosePriceRises(agent.path, key);
  assert.deepEqual([record.status, record.errorCode], ['failed', 'BUDGET_EXCEEDED']);
  assert.match(record.error, /0\.002 USD needed, 0\.0019 of 0\.0019 left/);
  const [window] = await windowsOf(service.db, budgetId);
  assert.deepEqual([window?.reserved, window?.settled, window?.calls], ['0', '0', 0]);
});

test('a retry that finds no room is not sent, and the execution ends with the code', async () => {
  const agent = await addAgent(service, { model, config });
  await addBudget(service, { limitUSD: 0.0015, agentIds: [agent.id] });
  const { key } = await service.key();
  const calls = service.models.calls.length;
  service.models.script(new ModelFailure('PROVIDER_ERROR', 'Broken.', { cost: unknownCost }));
  const { body } = await call(agent.path, key);
  const record = await ended(service, body.statusUrl, key);
  assert.deepEqual([record.status, record.errorCode], ['failed', 'BUDGET_EXCEEDED']);
  assert.match(record.error, /0\.001 USD needed, 0\.0005 of 0\.0015/);
  assert.equal(service.models.calls.length, calls + 1);
});
