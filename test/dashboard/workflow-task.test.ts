import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countClicks } from './count-clicks.ts';
import { openDashboard } from './harness.ts';

/** The way from an empty workspace to a workflow that runs on a schedule. */

const { visit } = await openDashboard();

test('writes, runs, follows and schedules a workflow in at most 9 clicks', async () => {
  const { page, check } = await visit('/workflows', { as: 'editor' });
  await page.getByRole('heading', { name: 'No workflows yet' }).waitFor();
  const clicks = await countClicks(page);
  await page.getByRole('link', { name: 'New workflow' }).first().click();
  await page.getByRole('button', { name: /^Triage and reply/ }).click();
  await page.getByRole('button', { name: 'Create prompts and agents' }).click();
  await page.getByText('Valid.').waitFor();
  await page.getByRole('button', { name: 'Create workflow' }).click();
  await page.waitForURL(/\/workflows\/wfl_/);

  await page.getByRole('navigation').getByRole('link', { name: 'Run', exact: true }).click();
  const ticket = '{"kind": "billing", "summary": "Charged twice."}';
  await page.getByRole('textbox', { name: 'ticket' }).fill(ticket);
  await page.getByRole('button', { name: 'Run', exact: true }).click();

  await page.waitForURL(/\/runs\/wfr_/);
  await page.getByRole('status').getByText('success').waitFor();
  const reply = page.getByRole('row').filter({ hasText: 'reply' });
  await reply
    .getByRole('img', { name: /after the workflow run$/ })
    .last()
    .waitFor();
  await reply.getByRole('cell', { name: '$0.00', exact: true }).waitFor();
  await page.getByRole('figure').filter({ hasText: 'Output' }).getByText('billing').waitFor();
  await check({ inDarkMode: true });

  await page.getByRole('link', { name: 'Triggers' }).click();
  await page.getByRole('button', { name: 'New schedule' }).click();
  const form = page.getByRole('dialog', { name: 'New schedule' });
  await form.getByLabel('Repeat').selectOption('On weekdays');
  await form.getByRole('table', { name: 'Next times' }).getByRole('row').nth(5).waitFor();
  await form.getByRole('textbox', { name: 'Input' }).fill(JSON.stringify({ ticket }));
  await form.getByRole('button', { name: 'Create schedule' }).click();
  await page.getByText(/^On weekdays at/).waitFor();
  assert.ok((await clicks()) <= 9, `${await clicks()} clicks`);
  await check({ inDarkMode: true });
});
