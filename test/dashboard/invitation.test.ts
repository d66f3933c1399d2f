import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();

test('an invitation makes an account, and leads into the workspace', async () => {
  const { key } = await service.key();
  const body = { email: 'new@example.com', role: 'editor' };
  const invitation = await service.call('POST', '/api/v1/invitations', { key, body });
  const { page, check } = await visit(new URL(invitation.body.url).pathname);
  await page.getByLabel('Your name').fill('Nova');
  await page.getByLabel('Password', { exact: true }).fill('long enough a password');
  await check();
  await page.getByRole('button', { name: 'Accept the invitation' }).click();
  await page.waitForURL('**/agents');
  await page.getByRole('button', { name: 'Nova' }).waitFor();
});

test('a link that is used or unknown says so', async () => {
  const { page, check } = await visit('/invitations/unknown', { as: 'viewer' });
  await page.getByRole('button', { name: 'Accept the invitation' }).click();
  const alert = page.getByRole('alert');
  await alert.waitFor();
  assert.match(await alert.innerText(), /req_/);
  await check();
});
