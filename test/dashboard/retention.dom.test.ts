import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { addPlainRecords, addRecords } from '../../harness/records.ts';
import { openPages } from './in-dom.ts';

const { service, visit } = await openPages();

test('the retention that was not confirmed does not stay in its field', async () => {
  const { page } = await visit('/settings/retention', { as: 'owner' });
  const field = page.getByLabel('Keep records (days)');
  const before = await field.inputValue();
  await field.fill('91');
  await page.getByRole('button', { name: 'Save' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Records: 91 days (previously').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await field.inputValue(), before);
});

test('an erasure says what it deletes, and waits for the name', async () => {
  const { id: agentId } = await addAgent(service);
  const { workspaceId } = service;
  const variables = '{"customer":"Ada"}';
  const times = ['2026-01-02T12:00:00Z', '2026-03-04T12:00:00Z'];
  await addRecords(
    service.db,
    times.map((at) => ({ workspaceId, agentId, atMs: Date.parse(at), variables })),
  );
  const { page, check } = await visit('/settings/retention', { as: 'owner' });
  await page.getByLabel('Identified by').selectOption('Variable');
  await page.getByLabel('Name').fill('customer');
  await page.getByLabel('Value').fill('Ada');
  await page.getByRole('button', { name: 'Erase…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(/2 records, from Jan 2, 2026.* to Mar 4, 2026/).waitFor();
  await check();
  const erase = dialog.getByRole('button', { name: 'Erase' });
  assert.ok(await erase.isDisabled());
  await dialog.getByLabel('Type “Ada” to confirm').fill('ada');
  assert.ok(await erase.isDisabled());
  await dialog.getByLabel('Type “Ada” to confirm').fill('Ada');
  await erase.click();
  await page.getByRole('table', { name: 'Erasures' }).getByText('Variable').waitFor();
});

test('an erasure that has not looked at all records says so', async () => {
  const { id: agentId } = await addAgent(service);
  const { workspaceId } = service;
  await addPlainRecords(service.db, 100_001, { workspaceId, agentId, atMs: Date.now() });
  const { page } = await visit('/settings/retention', { as: 'owner' });
  await page.getByLabel('Identified by').selectOption('Tag');
  await page.getByLabel('Value').fill('gold');
  await page.getByRole('button', { name: 'Erase…' }).click();
  const text =
    'No record matches so far. Only the newest records were counted: erasing searches all.';
  await page.getByRole('dialog').getByText(text).waitFor();
});
