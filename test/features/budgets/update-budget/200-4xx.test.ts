import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { createBudget } from '../../../../harness/created-budgets.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();

test('an omitted field does not change, and an empty scope means all calls', async () => {
  const { agentId } = await addAgent(service);
  const settings = { scope: { agentIds: [agentId] }, per: 'user', maxTokens: 7 };
  const { path, warnings, ...before } = await createBudget(service, key, settings);
  const change = (body: object) => service.call('PATCH', path, { key, body });
  const { updatedAt: _, ...unchanged } = (await change({})).body;
  const { updatedAt: __, ...created } = before;
  assert.deepEqual(unchanged, created);
  const thresholds = [90, 10];
  const { body, headers } = await change({ limitUSD: 5.5, thresholds, scope: {} });
  const { updatedAt, ...changed } = body;
  assert.deepEqual(changed, { ...created, limitUSD: 5.5, thresholds: [10, 90], scope: {} });
  assert.equal(headers.get('etag'), '"2"');
  const { body: audit } = await service.call('GET', '/api/v1/audit?limit=1', { key });
  assert.deepEqual(
    [audit.audit[0].action, audit.audit[0].details.fields.toSorted()],
    ['budget.change', ['agentIds', 'limitUsd', 'thresholds']],
  );
});

test('a change to the current values is none', async () => {
  const { path } = await createBudget(service, key, { name: 'Same', limitUSD: 0.5 });
  const body = {
    name: 'Same',
    limitUSD: 0.5,
    per: 'none',
    period: 'month',
    thresholds: [50, 80, 100],
  };
  assert.equal((await service.call('PATCH', path, { key, body })).headers.get('etag'), '"1"');
});

test('per and period cannot be changed', async () => {
  const { path } = await createBudget(service, key, { name: 'Fixed' });
  for (const [field, value, is] of [
    ['per', 'user', 'none'],
    ['period', 'day', 'month'],
  ] as const) {
    const { status, body } = await service.call('PATCH', path, { key, body: { [field]: value } });
    const message = `Field "${field}" cannot be changed: it is "${is}". Create another budget.`;
    assert.deepEqual([status, body.message], [409, message]);
  }
});

test('the name of another budget is taken, its own is not', async () => {
  await createBudget(service, key, { name: 'First', enabled: false });
  const { path } = await createBudget(service, key, { name: 'Second', enabled: false });
  const change = (name: string) => service.call('PATCH', path, { key, body: { name } });
  assert.equal((await change('First')).status, 409);
  assert.equal((await change('Third')).status, 200);
});

test('a stale tag changes nothing', async () => {
  const { path } = await createBudget(service, key, { name: 'Tagged', enabled: false });
  const change = (tag: string, limitUSD: number) =>
    service.call('PATCH', path, { key, body: { limitUSD }, headers: { 'if-match': tag } });
  assert.equal((await change('"1"', 3)).status, 200);
  assert.equal((await change('"1"', 4)).status, 412);
  assert.equal((await service.call('GET', path, { key })).body.limitUSD, 3);
});

test('a deleted budget is gone', async () => {
  const { path, budgetId } = await createBudget(service, key, { name: 'Gone', enabled: false });
  assert.equal((await service.call('DELETE', path, { key })).status, 204);
  assert.equal((await service.call('GET', path, { key })).status, 404);
  assert.equal((await service.call('DELETE', path, { key })).status, 404);
  const { body: audit } = await service.call('GET', '/api/v1/audit?limit=1', { key });
  assert.deepEqual([audit.audit[0].action, audit.audit[0].subject], ['budget.delete', budgetId]);
});
