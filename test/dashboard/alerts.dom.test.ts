import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPages } from './in-dom.ts';

const { visit } = await openPages();

test('previews an alert without a name, until its settings or the days change', async () => {
  const { page } = await visit('/settings/alerts', { as: 'owner' });
  await page.getByRole('button', { name: 'Add alert' }).first().click();
  const dialog = page.getByRole('dialog');
  const show = dialog.getByRole('button', { name: 'Show preview' });
  const outcome = dialog.getByText(/would (not )?have fired/);
  await show.click();
  await outcome.waitFor();
  await dialog.getByLabel('Preview').selectOption('30 days');
  await outcome.waitFor({ state: 'detached' });
  await show.click();
  await outcome.waitFor();
  await dialog.getByLabel('Fires above (%)').fill('20');
  await outcome.waitFor({ state: 'detached' });
});

test('editors see neither alerts nor endpoints', async () => {
  const { page } = await visit('/settings/workspace', { as: 'editor' });
  await page.getByText('AI Actions this month').waitFor();
  for (const name of ['Alerts', 'Endpoints']) {
    assert.equal(await page.getByRole('link', { name, exact: true }).count(), 0);
  }
});
