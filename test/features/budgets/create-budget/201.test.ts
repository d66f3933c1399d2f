import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { budgetSettings } from '../../../../harness/created-budgets.ts';
import { startService } from '../../../../harness/service.ts';
import { toId } from '../../../../src/core/id.ts';

const service = await startService();
after(service.close);
const { key, apiKeyId } = await service.key();
const path = '/api/v1/budgets';
const create = (body: object) => service.call('POST', path, { key, body });

test('a budget is created with its settings, read and listed', async () => {
  const { agentId } = await addAgent(service, { config: { maxTokens: 100 } });
  const settings = {
    ...{ name: 'Users of Explainer', scope: { agentIds: [agentId] }, per: 'user', period: 'month' },
    ...{ limitUSD: 20.0000000001, maxTokens: 1_000, thresholds: [80] },
    ...{ onUnknown: 'count_zero', enabled: false },
  };
  const created = await create(settings);
  assert.equal(created.status, 201);
  const { budgetId, createdAt, updatedAt, createdBy, warnings, ...rest } = created.body;
  assert.match(budgetId, /^bud_/);
  assert.deepEqual(rest, settings);
  assert.deepEqual(warnings, []);
  assert.equal(createdBy, toId('user', service.ownerId));
  assert.equal(created.headers.get('etag'), '"1"');
  assert.equal(created.headers.get('location'), `${path}/${budgetId}`);
  const one = await service.call('GET', `${path}/${budgetId}`, { key });
  const { warnings: _, ...budget } = created.body;
  assert.deepEqual(one.body, budget);
  assert.equal(one.headers.get('etag'), '"1"');
  assert.deepEqual((await service.call('GET', path, { key })).body.budgets, [budget]);
  const { body: audit } = await service.call('GET', '/api/v1/audit?limit=1', { key });
  const { action, subject, details } = audit.audit[0];
  assert.deepEqual([action, subject], ['budget.create', budgetId]);
  const { name, per, period } = settings;
  assert.deepEqual(details, { name, per, period, limitUSD: '20.0000000001' });
});

test('everything but name, per, period and limit has a default', async () => {
  const { status, body } = await create(budgetSettings);
  assert.equal(status, 201);
  const { budgetId, createdAt, updatedAt, createdBy, warnings, ...rest } = body;
  assert.deepEqual(rest, {
    ...budgetSettings,
    ...{ scope: {}, maxTokens: 4_096, thresholds: [50, 80, 100] },
    ...{ onUnknown: 'refuse', enabled: true },
  });
});

test('thresholds are shown in ascending order', async () => {
  const { body } = await create({ ...budgetSettings, name: 'Order', thresholds: [100, 9, 80] });
  assert.deepEqual(body.thresholds, [9, 80, 100]);
});

test('a scope names agents also by slug, each once, and keys and tags', async () => {
  const { agentId, path: agentPath } = await addAgent(service);
  const { body: agent } = await service.call('GET', agentPath, { key });
  const scope = { agentIds: [agent.slug, agentId], apiKeyIds: [apiKeyId], tags: ['beta'] };
  const { body } = await create({ ...budgetSettings, name: 'Slug', scope });
  assert.deepEqual(body.scope, { agentIds: [agentId], apiKeyIds: [apiKeyId], tags: ['beta'] });
});

test('warnings name the agents without maxTokens whose calls it counts', async () => {
  const { workspaceId, ownerId } = await service.workspace();
  const other = { ...service, workspaceId, ownerId };
  const owner = await service.key({ workspaceId, userId: ownerId });
  const bounded = await addAgent(other, { config: { maxTokens: 50 } });
  const unbounded = await addAgent(other);
  await addAgent(other, { stage: 'Paused', archived: true });
  const warnings = async (settings: object) => {
    const call = { key: owner.key, body: { ...budgetSettings, ...settings } };
    return (await service.call('POST', path, call)).body.warnings;
  };
  const expected = [
    {
      ...{ agentId: unbounded.agentId, agentName: 'Agent' },
      message: 'The agent has no "maxTokens": calls that this budget counts are sent with 200.',
    },
  ];
  assert.deepEqual(await warnings({ name: 'All', maxTokens: 200 }), expected);
  const tags = ['beta'];
  assert.deepEqual(await warnings({ name: 'T', maxTokens: 200, scope: { tags } }), expected);
  const agentIds = [bounded.agentId];
  assert.deepEqual(await warnings({ name: 'One', scope: { agentIds } }), []);
});

test('budgets of another workspace do not exist', async () => {
  const { workspaceId, ownerId: userId } = await service.workspace();
  const other = await service.key({ workspaceId, userId });
  const { body } = await create({ ...budgetSettings, name: 'Mine' });
  const one = `${path}/${body.budgetId}`;
  for (const [method, below] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['GET', '/windows'],
  ] as const) {
    const call = { key: other.key, ...(method === 'PATCH' && { body: {} }) };
    assert.equal((await service.call(method, one + below, call)).status, 404, method);
  }
  assert.deepEqual((await service.call('GET', path, { key: other.key })).body.budgets, []);
});
