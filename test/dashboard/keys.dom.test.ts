import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent, run } from '../../harness/agents.ts';
import { freezeWindows } from '../../harness/windows.ts';
import { openPages } from './in-dom.ts';

const { service, visit } = await openPages();
const other = await service.workspace();

test('the empty list explains keys', async () => {
  const { page, check } = await visit('/keys', { as: 'viewer' });
  await page.getByRole('heading', { name: 'No keys yet' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Create key' }).count(), 0);
  await check();
});

test('lists the rate limit usage of each key', async () => {
  const agent = await addAgent(service);
  const { key, id } = await service.key({ rateLimits: { requestsPerMinute: 4 } });
  await freezeWindows(service.db, id);
  await run(service, agent, key);
  const { page, check } = await visit('/keys', { as: 'viewer' });
  await page.getByRole('img', { name: '1 of 4 calls used this minute' }).waitFor();
  await page.getByRole('img', { name: '1 of 5,000 calls used this hour' }).waitFor();
  // Its time may not be written yet.
  const row = page.getByRole('row').filter({ hasText: key.slice(0, 10) });
  await row.getByText(/^Not recorded yet$|ago$|^now$/).waitFor();
  await check();
});

test('rotates a key and revokes the old one', async () => {
  const { key } = await service.key();
  const { page, check } = await visit('/keys', { as: 'owner' });
  const row = page.getByRole('row').filter({ hasText: key.slice(0, 10) });
  await row.getByRole('button', { name: /^Actions/ }).click();
  await page.getByRole('menuitem', { name: 'Rotate' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Grace period').selectOption('1 week');
  await check();
  await dialog.getByRole('button', { name: 'Rotate' }).click();
  await dialog.getByText(/^cue_[0-9A-Za-z]{36}$/).waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await row.getByRole('button', { name: /^Actions/ }).click();
  await page.getByRole('menuitem', { name: 'Revoke' }).click();
  await dialog.getByText('will fail with 401').waitFor();
  await check();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await row.waitFor({ state: 'detached' });
  // The new one has the same name.
  await page.getByRole('checkbox', { name: 'Revoked keys' }).click();
  await row.getByText('revoked').waitFor();
  assert.equal(await page.getByRole('row').count(), 2);
  await check();
});

test('without a revoked key, the filter says so and goes away', async () => {
  const { page } = await visit('/keys?revoked=true', { as: { userId: other.ownerId } });
  await page.getByText('No key was revoked.').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByText('No keys yet').waitFor();
});

test('a key that was replaced shows when it ends, and its calls are no use of the new one', async () => {
  const { key, id } = await service.key();
  await freezeWindows(service.db, id);
  await run(service, await addAgent(service), key);
  const { page } = await visit('/keys', { as: 'owner' });
  const row = page.getByRole('row').filter({ hasText: key.slice(0, 10) });
  await row.getByRole('button', { name: /^Actions/ }).click();
  await page.getByRole('menuitem', { name: 'Rotate' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Rotate' }).click();
  const issued = await dialog.getByText(/^cue_[0-9A-Za-z]{36}$/).innerText();
  await dialog.getByRole('button', { name: 'Done' }).click();
  const successor = page.getByRole('row').filter({ hasText: issued.slice(0, 10) });
  await successor.getByText('Not recorded yet').waitFor();
  await row.getByText(/ends (tomorrow|in (1 day|2[34] hours))/).waitFor();
});

test('says why calls fail', async () => {
  const { agentId } = await addAgent(service, { stage: 'Draft' });
  const { page } = await visit(`/agents/${agentId}/use`, { as: 'editor' });
  const reason =
    'Calls currently fail with 403. The agent is in stage Draft and its API is disabled.';
  await page.getByText(reason).waitFor();
});
