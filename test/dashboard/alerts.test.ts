import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { addCalls } from '../../harness/alerts.ts';
import { countClicks } from './count-clicks.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();
const { key } = await service.key();

test('an owner previews an alert, creates, changes and deletes it', async () => {
  const agent = await addAgent(service);
  const failure = { status: 'failed', errorCode: 'PROVIDER_ERROR' } as const;
  await addCalls(service, agent.id, 40, { ...failure, minutesAgo: 600 });
  await addCalls(service, agent.id, 60, { minutesAgo: 300 });
  const { page, check } = await visit('/', { as: 'owner' });
  const clicks = await countClicks(page);
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('link', { name: 'Alerts' }).click();
  await page.getByText('No alerts yet').waitFor();
  await check({ inDarkMode: true });
  await page.getByRole('button', { name: 'Add alert' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Failures');
  await dialog.getByLabel('Fires above (%)').fill('20');
  await dialog.getByLabel('Clears at or below (%)').fill('25');
  await dialog.getByRole('button', { name: 'Add alert' }).click();
  await dialog
    .getByText(/must not be above/)
    .first()
    .waitFor();
  await dialog.getByLabel('Clears at or below (%)').fill('10');
  await dialog.getByRole('button', { name: 'Show preview' }).click();
  await dialog.getByText('would have fired 1 ×').waitFor();
  await dialog.locator('.recharts-reference-line').waitFor({ state: 'attached' });
  await check({ inDarkMode: true });
  await dialog.getByRole('button', { name: 'Add alert' }).click();
  await dialog.waitFor({ state: 'hidden' });
  // One of them was refused, and one showed the preview.
  assert.equal(await clicks(), 6);
  await page.getByText('Failure rate above 20%').waitFor();
  await check({ inDarkMode: true });
  const { alerts } = (await service.call('GET', '/api/v1/alerts', { key })).body;
  assert.deepEqual([alerts[0].threshold, alerts[0].clearThreshold], [0.2, 0.1]);
  await page.getByRole('button', { name: 'Actions for Failures' }).click();
  await page.getByRole('menuitem', { name: 'Edit and preview' }).click();
  await dialog.getByLabel('Metric').selectOption('Queue age');
  await dialog.getByRole('button', { name: 'Show preview' }).click();
  await dialog.getByText('Queue age: would not have fired').waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Queue age above').waitFor();
  await page.getByRole('button', { name: 'Actions for Failures' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No alerts yet').waitFor();
});
