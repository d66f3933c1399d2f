import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../../harness/agents.ts';
import { addBudget, addPrice, windowsOf } from '../../../../harness/budgets.ts';
import { startService } from '../../../../harness/service.ts';
import { ModelFailure, unknownCost } from '../../../../src/core/model/model-port.ts';
import { sql } from '../../../../src/db/sql.ts';

/** Calls of models without a known price, under budgets. */

const service = await startService();
after(service.close);
const { key } = await service.key();
const priced = 'cueline/echo';
await addPrice(service, { model: priced, perToken: 0.0001 });
const unknown = 'nobody/llm';

const call = async (path: string, more: object = {}) =>
  service.call('POST', `${path}/execute`, { key, body: { variables: { name: 'x' }, ...more } });
const agentWith = (...models: string[]) =>
  addAgent(service, { config: { model: models[0] ?? '', models, maxTokens: 10 } });

test('a budget that counts zero lets them through and counts them', async () => {
  const agent = await agentWith(unknown);
  const options = { limitUSD: 0.001, agentIds: [agent.id] };
  const budgetId = await addBudget(service, { ...options, onUnknown: 'count_zero' });
  for (let count = 1; count <= 2; count++) {
    service.models.script({ cost: unknownCost });
    const { status, body } = await call(agent.path);
    assert.equal(status, 202);
    const record = await ended(service, body.statusUrl, key);
    assert.deepEqual([record.status, record.costKnown, record.costUSD], ['success', false, 0]);
    assert.deepEqual([record.reservedUSD, record.overrunUSD], [0, 0]);
    assert.deepEqual(await windowsOf(service.db, budgetId), [
      { bucket: '', reserved: '0', settled: '0', calls: count, unknownCalls: count },
    ]);
  }
  const capped = await call(agent.path, { maxCostUSD: 1 });
  assert.deepEqual([capped.status, capped.body.code], [400, 'PRICE_UNKNOWN']);
  await addBudget(service, options);
  const refused = await call(agent.path);
  assert.deepEqual([refused.status, refused.body.code], [400, 'PRICE_UNKNOWN']);
});

test('what the provider states as its cost counts afterwards', async () => {
  const agent = await agentWith(unknown);
  const limits = { limitUSD: 0.001, agentIds: [agent.id], onUnknown: 'count_zero' } as const;
  const budgetId = await addBudget(service, limits);
  service.models.script({ cost: { usd: '0.0007', known: true, source: 'provider' } });
  const { body } = await call(agent.path);
  const record = await ended(service, body.statusUrl, key);
  assert.deepEqual([record.costUSD, record.overrunUSD], [0.0007, 0.0007]);
  const [window] = await windowsOf(service.db, budgetId);
  assert.deepEqual([window?.settled, window?.unknownCalls], ['0.0007', 0]);
});

for (const [onUnknown, end] of [
  ['count_zero', 'success'],
  ['refuse', 'PRICE_UNKNOWN'],
] as const) {
  test(`a fallback without a price ends with ${end} where the budget says ${onUnknown}`, async () => {
    const agent = await agentWith(priced, unknown);
    const budgetId = await addBudget(service, { limitUSD: 1, agentIds: [agent.id], onUnknown });
    service.models.script(new ModelFailure('PROVIDER_QUOTA', 'Nothing left.'));
    if (onUnknown === 'count_zero') service.models.script({ cost: unknownCost });
    const { body } = await call(agent.path);
    const { status, errorCode = status } = await ended(service, body.statusUrl, key);
    assert.equal(errorCode, end);
    const [window] = await windowsOf(service.db, budgetId);
    const isSent = onUnknown === 'count_zero';
    assert.deepEqual([window?.calls, window?.unknownCalls], isSent ? [2, 1] : [1, 0]);
    assert.deepEqual([window?.reserved, window?.settled], ['0', '0']);
  });

  test(`a call whose price is deleted while it waits ends with ${end}: ${onUnknown}`, async () => {
    const model = `nobody/${onUnknown}`;
    await addPrice(service, { model, perToken: 0.0001 });
    const agent = await agentWith(model);
    const budgetId = await addBudget(service, { limitUSD: 1, agentIds: [agent.id], onUnknown });
    service.models.script(async () => {
      await sql`delete from prices where model = ${model}`.execute(service.db);
      throw new ModelFailure('PROVIDER_RATE_LIMITED', 'Not now.', { rejected: true });
    });
    if (onUnknown === 'count_zero') service.models.script({ cost: unknownCost });
    const { body } = await call(agent.path);
    const { status, errorCode = status } = await ended(service, body.statusUrl, key);
    assert.equal(errorCode, end);
    const [window] = await windowsOf(service.db, budgetId);
    assert.deepEqual([window?.reserved, window?.settled], ['0', '0']);
  });
}

test('a fallback that has no bound because of an option is not sent, whatever the budget says', async () => {
  const provider = { kind: 'bedrock', apiKey: 'key' };
  await service.call('PUT', '/api/v1/providers/aws', { key, body: provider });
  const models = [priced, 'aws/amazon.nova-2-lite-v1:0'];
  const agent = await addAgent(service, {
    config: { model: priced, models, maxTokens: 10, reasoningEffort: 'high' },
  });
  const options = { limitUSD: 1, agentIds: [agent.id], onUnknown: 'count_zero' } as const;
  const budgetId = await addBudget(service, options);
  const sentBefore = service.models.calls.length;
  service.models.script(new ModelFailure('PROVIDER_QUOTA', 'Nothing left.'));
  const { key: starter } = await service.key({ permissions: ['execute'] });
  const { body } = await service.call('POST', `${agent.path}/execute`, {
    ...{ key: starter, body: { variables: { name: 'x' } } },
  });
  const seen = await ended(service, body.statusUrl, starter);
  const { errorCode, error } = await ended(service, body.statusUrl, key);
  assert.equal(errorCode, 'PRICE_UNKNOWN', error);
  assert.match(error, /option "reasoningEffort"/);
  // The settings of the agent are not for a key that may be in a web page.
  assert.match(seen.error, /^It is not known what a call of this agent costs at most/);
  assert.equal(service.models.calls.length, sentBefore + 1);
  const [window] = await windowsOf(service.db, budgetId);
  assert.deepEqual([window?.calls, window?.reserved, window?.settled], [1, '0', '0']);
});
