import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { toId } from '../../src/core/id.ts';
import { countClicks } from './count-clicks.ts';
import { openDashboard } from './harness.ts';

/** The audit log: entries as sentences, with links and filters in the URL. */

const { service, visit } = await openDashboard();
const subjectsFor = async (userId: string) => {
  const path = `/api/v1/audit?userId=${userId}&limit=100`;
  const { body } = await service.call('GET', path, { user: service.ownerId });
  return body.audit.map(({ subject }: { subject: string }) => subject);
};

test('finds what a user did in 2 clicks, as sentences that lead to what was changed', async () => {
  const member = await service.member('editor');
  const userId = toId('user', member);
  const agent = await addAgent(service);
  const body = { agentName: 'Support replies' };
  await service.call('PATCH', agent.path, { user: member, body });
  await service.call('POST', `${agent.path}/lifecycle`, {
    user: member,
    body: { action: 'disable' },
  });
  const other = await addAgent(service);
  await service.call('PATCH', other.path, { user: service.ownerId, body: { agentName: 'Other' } });
  const { page, check } = await visit('/settings/members', { as: 'owner' });
  const clicks = await countClicks(page);
  await page.getByRole('link', { name: 'Audit log' }).click();
  await page.getByLabel('User').selectOption({ value: userId });
  await page.waitForURL(`**/settings/audit?userId=${userId}`);
  const row = page.getByRole('row').filter({ hasText: 'paused the agent Support replies' });
  await row.waitFor();
  assert.ok((await clicks()) <= 2);
  assert.ok((await subjectsFor(userId)).includes(agent.agentId));
  await page.getByRole('row').filter({ hasText: 'Other' }).first().waitFor({ state: 'hidden' });
  await check({ inDarkMode: true });
  await row.getByRole('link', { name: 'Support replies' }).click();
  await page.waitForURL(`**/agents/${agent.agentId}`);
});

test('filters by subject and by days, and clears the filters', async () => {
  const agent = await addAgent(service);
  await service.call('PATCH', agent.path, { user: service.ownerId, body: { agentName: 'Dated' } });
  const { page, check } = await visit('/settings/audit', { as: 'owner' });
  await page
    .getByRole('button', { name: `Only entries about ${agent.agentId}` })
    .first()
    .click();
  await page.waitForURL(`**/settings/audit?subject=${agent.agentId}`);
  await page.getByRole('row').filter({ hasText: 'changed settings of the agent Dated' }).waitFor();
  const others = page.getByRole('row').filter({ hasNotText: agent.agentId });
  await others.nth(1).waitFor({ state: 'detached' });
  await page.getByLabel('From').fill('2020-01-01');
  await page.waitForURL(/startDate=/);
  await page.getByRole('row').filter({ hasText: 'Dated' }).waitFor();
  await page.getByLabel('Until').fill('2020-01-02');
  await page.waitForURL(/endDate=/);
  await page.getByRole('heading', { name: 'No matches' }).waitFor();
  await check();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.waitForURL('**/settings/audit');
  await page.getByRole('table', { name: 'Audit log' }).waitFor();
  assert.equal(await page.getByLabel('From').inputValue(), '');
});

test('a day keeps the focus when it applies', async () => {
  const { page } = await visit('/settings/audit', { as: 'owner' });
  const from = page.getByLabel('From');
  const startDate = (url: URL) => url.searchParams.get('startDate');
  await from.fill('2020-01-01');
  // Appears with the day in the URL.
  const clear = page.getByRole('button', { name: 'Clear filters' });
  await clear.waitFor();
  const before = startDate(new URL(page.url()));
  await page.keyboard.press('ArrowUp');
  await page.waitForURL((url) => startDate(url) !== before);
  await page.locator(':focus').and(from).waitFor();
  assert.equal(await from.inputValue(), '2020-02-01');
  await clear.click();
  await page.waitForURL('**/settings/audit');
  await page.locator('input[type=date][value=""]').nth(1).waitFor();
});
