import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { addAlert, alertSettings } from '../../../harness/alerts.ts';
import { addSettlement, addWindow, createBudget } from '../../../harness/created-budgets.ts';
import { startService } from '../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const path = '/api/v1/alerts';
const create = (settings: object) =>
  service.call('POST', path, { key, body: { ...alertSettings, ...settings } });

test('an alert measures what the fullest current window of its budget has settled', async () => {
  const { budgetId, path: budget } = await createBudget(service, key, {
    per: 'user',
    period: 'day',
  });
  const above = { threshold: 0.8, clearThreshold: 0.8 };
  const alert = await addAlert(service, key, { metric: 'budgetUsed', budgetId, ...above });
  const measured = async () => {
    const { state, value, budgetId: of } = await alert.evaluated();
    assert.equal(of, budgetId);
    return [state, value];
  };
  assert.deepEqual(await measured(), ['ok', 0]);
  await addWindow(service, budgetId, { bucket: 'ann', settled: 10, reserved: 9 });
  await addWindow(service, budgetId, { bucket: 'bob', settled: 19, periodsAgo: 1 });
  assert.deepEqual(await measured(), ['ok', 0.5]);
  await addSettlement(service, budgetId, { bucket: 'ann', reserved: -9, settled: 7 });
  assert.deepEqual(await measured(), ['firing', 0.85]);
  await service.call('PATCH', budget, { key, body: { limitUSD: 34 } });
  assert.deepEqual(await measured(), ['ok', 0.5]);
  await service.call('DELETE', budget, { key });
  assert.deepEqual(await measured(), ['no_data', null]);
});

test('the metric needs a budget of the workspace, which says which calls count', async () => {
  const { budgetId } = await createBudget(service, key, { name: 'Other' });
  const { agentId } = await addAgent(service);
  const about = { metric: 'budgetUsed', budgetId };
  for (const [settings, status, message] of [
    [{ metric: 'budgetUsed' }, 400, /"budgetUsed", and no other, needs "budgetId"/],
    [{ metric: 'count', budgetId }, 400, /"budgetUsed", and no other, needs "budgetId"/],
    [{ ...about, agentIds: [agentId] }, 400, /Omit "agentIds" and "tag"/],
    [{ ...about, tag: 'beta' }, 400, /Omit "agentIds" and "tag"/],
    [{ ...about, budgetId: 'bud_unknown' }, 404, /no such budget/],
  ] as const) {
    const { status: answered, body } = await create(settings);
    assert.deepEqual([answered, message.test(body.message)], [status, true], body.message);
  }
  const { body: alert } = await create({ metric: 'count' });
  const change = (body: object) => service.call('PATCH', `${path}/${alert.alertId}`, { key, body });
  assert.equal((await change({ budgetId })).status, 400);
  assert.equal((await change(about)).body.budgetId, budgetId);
  const back = await change({ metric: 'count', budgetId: null });
  assert.deepEqual([back.status, 'budgetId' in back.body], [200, false]);
});

test('a budget has no preview, because its past is not kept', async () => {
  const { budgetId } = await createBudget(service, key, { name: 'Past', enabled: false });
  const { name: _, ...settings } = { ...alertSettings, metric: 'budgetUsed', budgetId };
  const body = { ...settings, days: 1 };
  const preview = await service.call('POST', `${path}/preview`, { key, body });
  assert.equal(preview.status, 400);
  assert.match(preview.body.message, /no preview/);
});
