import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { addSettlement, addWindow, createBudget } from '../../harness/created-budgets.ts';
import { addEndpoint } from '../../harness/endpoints.ts';
import { startReceiver, toReceivers } from '../../harness/receiver.ts';
import { openPages } from './in-dom.ts';

const { service, visit } = await openPages({ config: toReceivers });
const { key } = await service.key();
const receiver = await startReceiver();
after(receiver.close);

async function budgetsOf() {
  return (await service.call('GET', '/api/v1/budgets', { key })).body.budgets;
}

test('an owner limits each user of an agent in one dialog, and sees who is told', async () => {
  const agent = await addAgent(service);
  await service.call('PATCH', agent.path, { key, body: { agentName: 'Explainer' } });
  const { page, check } = await visit('/settings/budgets', { as: 'owner' });
  await page.getByText('No budgets yet').waitFor();
  await page.getByRole('button', { name: 'Add budget' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add budget' });
  await dialog.getByText('Nobody. No endpoint subscribes to budgets.').waitFor();
  await dialog.getByLabel('Limit (US dollars)').fill('25.5');
  await dialog.getByLabel('Agents').first().click();
  await page.getByRole('option', { name: 'Explainer' }).click();
  await dialog.getByLabel('Notify at (%)').fill('80');
  await check();
  await dialog.getByRole('button', { name: 'Add budget' }).click();
  const unbounded = page.getByRole('dialog', { name: 'Agents without maxTokens' });
  await unbounded.getByText('Explainer').waitFor();
  await page.getByText('$25.50 a month for each user').first().waitFor();
  const [budget] = await budgetsOf();
  assert.deepEqual(
    [budget.name, budget.limitUSD, budget.per, budget.period, budget.thresholds, budget.scope],
    [
      ...['$25.50 a month for each user', 25.5, 'user', 'month', [80]],
      { agentIds: [agent.agentId] },
    ],
  );
  await service.call('DELETE', `/api/v1/budgets/${budget.budgetId}`, { key });
});

test('a budget shows its fullest windows with what is reserved and left', async () => {
  const { budgetId } = await createBudget(service, key, { per: 'user', name: 'Users' });
  await addWindow(service, budgetId, { bucket: 'ann', settled: 3, reserved: 2 });
  await addWindow(service, budgetId, { bucket: 'bob', settled: 14, reserved: 6 });
  await addSettlement(service, budgetId, { bucket: 'bob', reserved: -1, settled: 0.5 });
  for (const bucket of ['carl', 'dora']) await addWindow(service, budgetId, { bucket, settled: 1 });
  const { page, check } = await visit('/settings/budgets', { as: 'owner' });
  const table = page.getByRole('table');
  await table.getByText('$14.50 settled · $5.00 reserved · $0.50 left').waitFor();
  assert.deepEqual(
    await Promise.all(['bob', 'ann', 'carl', 'dora'].map((one) => table.getByText(one).count())),
    [1, 1, 1, 0],
  );
  await check();
  await page.getByRole('button', { name: 'Actions for Users' }).click();
  await page.getByRole('menuitem', { name: 'All windows' }).click();
  await page.getByRole('dialog', { name: 'Windows of Users' }).getByText('dora').waitFor();
  await page.getByRole('link', { name: 'Refusals of Users' }).click();
  await page.getByText('BUDGET_EXCEEDED').first().waitFor();
});

test('an edit sends only what was edited, and says what is wrong', async () => {
  const scope = { tags: ['beta'] };
  const { budgetId, path } = await createBudget(service, key, { name: 'Edited', scope });
  const { page } = await visit('/settings/budgets', { as: 'owner' });
  await page.getByRole('button', { name: 'Actions for Edited' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog', { name: 'Edit budget' });
  assert.equal(await dialog.getByLabel('Period').isDisabled(), true);
  await service.call('PATCH', path, { key, body: { maxTokens: 77 } });
  await dialog.getByLabel('Notify at (%)').fill('80, 101');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('“101” is no whole number from 1 to 100.').waitFor();
  await dialog.getByLabel('Notify at (%)').fill('90');
  await dialog.getByLabel('Limit (US dollars)').fill('0');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog
    .getByText(/limitUSD|must be/)
    .first()
    .waitFor();
  await dialog.getByLabel('Limit (US dollars)').fill('7');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  const found = (await budgetsOf()).find((one: { budgetId: string }) => one.budgetId === budgetId);
  const { limitUSD, thresholds, maxTokens } = found;
  assert.deepEqual([limitUSD, thresholds, maxTokens, found.scope], [7, [90], 77, scope]);
});

test('the dialog names the endpoints that subscribe to budgets', async () => {
  for (const [description, type] of [
    ['Pager', 'alert.fired'],
    ['Finance', 'budget.threshold'],
  ] as const) {
    await addEndpoint(service, key, { url: receiver.url, description, eventTypes: [type] });
  }
  const { page } = await visit('/settings/budgets', { as: 'owner' });
  await page.getByRole('button', { name: 'Add budget' }).first().click();
  const notified = page.getByRole('dialog').getByRole('region', { name: 'Who is notified' });
  await notified.getByText('Finance').waitFor();
  assert.equal(await notified.getByText('Pager').count(), 0);
});

test('an alert is about a budget', async () => {
  const { budgetId } = await createBudget(service, key, { name: 'Watched', enabled: false });
  const { page } = await visit('/settings/alerts', { as: 'owner' });
  await page.getByRole('button', { name: 'Add alert' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Add alert' });
  await dialog.getByLabel('Metric').selectOption('Used budget');
  await dialog.getByLabel('Budget').selectOption('Watched');
  assert.equal(await dialog.getByRole('button', { name: 'Show preview' }).count(), 0);
  await dialog.getByRole('button', { name: 'Add alert' }).click();
  await page.getByText('Used budget above 80%').first().waitFor();
  const { alerts } = (await service.call('GET', '/api/v1/alerts', { key })).body;
  assert.deepEqual([alerts[0].metric, alerts[0].budgetId], ['budgetUsed', budgetId]);
});

test('editors do not see budgets', async () => {
  const { page } = await visit('/settings/workspace', { as: 'editor' });
  await page.getByText('AI Actions this month').waitFor();
  assert.equal(await page.getByRole('link', { name: 'Budgets', exact: true }).count(), 0);
});
