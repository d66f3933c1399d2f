import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();

test('an invitation makes an account, and leads into the workspace', async () => {
  const { key } = await service.key();
  const body = { email: 'new@example.com', role: 'editor' };
  const invitation = await service.call('POST', '/api/v1/invitations', { key, body });
  const { page, check } = await visit(new URL(invitation.body.url).pathname);
  await page.getByRole('heading', { name: 'Join Test' }).waitFor();
  await page.getByText('new@example.com').waitFor();
  await page.getByText('editor: also edits and runs').waitFor();
  await page.getByLabel('Your name').fill('Nova');
  await page.getByLabel('Password', { exact: true }).fill('long enough a password');
  await check();
  await page.getByRole('button', { name: 'Accept the invitation' }).click();
  await page.waitForURL('**/agents');
  await page.getByRole('button', { name: 'Nova' }).waitFor();
});

test('whoever has an account signs in with it before they accept', async () => {
  const { ownerId } = await service.workspace();
  const { email } = await service.signIn({ userId: ownerId });
  const body = { email, role: 'viewer' };
  const user = service.ownerId;
  const invitation = await service.call('POST', '/api/v1/invitations', { user, body });
  const path = new URL(invitation.body.url).pathname;
  const nobody = await visit(path);
  await nobody.page.getByText('Does this address have an account?').waitFor();
  await nobody.check();
  await nobody.page.getByLabel('Your name').fill('Nova');
  await nobody.page.getByLabel('Password', { exact: true }).fill('long enough a password');
  await nobody.page.getByRole('button', { name: 'Accept the invitation' }).click();
  await nobody.page.getByRole('alert').getByText('has an account. Sign in with it').waitFor();
  await nobody.page.getByRole('link', { name: 'Sign in with it' }).click();
  await nobody.page.waitForURL(/\/sign-in\?from=/);
  const { page, check } = await visit(path, { as: { userId: ownerId } });
  await page.getByRole('button', { name: 'Accept the invitation' }).waitFor();
  await check();
  await page.getByRole('button', { name: 'Accept the invitation' }).click();
  await page.waitForURL('**/agents');
});

test('whoever is signed in and a member of nothing accepts as well', async () => {
  const { userId, email } = await service.signIn('viewer');
  await sql`delete from members where user_id = ${userId}`.execute(service.db);
  const body = { email, role: 'viewer' };
  const user = service.ownerId;
  const invitation = await service.call('POST', '/api/v1/invitations', { user, body });
  const path = new URL(invitation.body.url).pathname;
  const { page } = await visit(path, { as: { userId } });
  await page.getByRole('button', { name: 'Accept the invitation' }).click();
  await page.waitForURL('**/agents');
});

test('a link that is used, expired or unknown says so at once', async () => {
  const { page, check } = await visit('/invitations/unknown');
  await page.getByRole('heading', { name: 'This link leads nowhere' }).waitFor();
  assert.equal(await page.getByRole('button').count(), 0);
  await check();
});

test('where the server fails, its words show, and it can be tried again', async () => {
  const { page, check } = await visit('/sign-in', { intercepts: true });
  await page.route('**/api/v1/invitations/by-token/*', (route) =>
    route.fulfill({
      status: 500,
      json: { error: 'Internal error', message: 'It broke.', code: 'INTERNAL', requestId: 'req_3' },
    }),
  );
  await page.goto('/invitations/any');
  await page.getByRole('alert').getByText('It broke.').waitFor();
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  await check();
});
