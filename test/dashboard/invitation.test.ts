import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/db/sql.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();

test('accepting an invitation creates an account and opens the workspace', async () => {
  const { key } = await service.key();
  const body = { email: 'new@example.com', role: 'editor' };
  const invitation = await service.call('POST', '/api/v1/invitations', { key, body });
  const { page, check } = await visit(new URL(invitation.body.url).pathname);
  await page.getByRole('heading', { name: 'Join Test' }).waitFor();
  await page.getByText('new@example.com').waitFor();
  await page.getByText('editor: can also edit and execute').waitFor();
  await page.getByLabel('Your name').fill('Nova');
  await page.getByLabel('Password', { exact: true }).fill('long enough a password');
  await check();
  await page.getByRole('button', { name: 'Accept invitation' }).click();
  await page.waitForURL(/:\d+\/$/);
  await page.getByRole('button', { name: 'Nova' }).waitFor();
});

test('a user with an account signs in before accepting', async () => {
  const { ownerId } = await service.workspace();
  const { email } = await service.signIn({ userId: ownerId });
  const body = { email, role: 'viewer' };
  const user = service.ownerId;
  const invitation = await service.call('POST', '/api/v1/invitations', { user, body });
  const path = new URL(invitation.body.url).pathname;
  const signedOut = await visit(path);
  await signedOut.page.getByText('Already have an account for this address?').waitFor();
  await signedOut.check();
  await signedOut.page.getByLabel('Your name').fill('Nova');
  await signedOut.page.getByLabel('Password', { exact: true }).fill('long enough a password');
  await signedOut.page.getByRole('button', { name: 'Accept invitation' }).click();
  await signedOut.page.getByRole('alert').getByText('has an account. Sign in with it').waitFor();
  await signedOut.page.getByRole('link', { name: 'Sign in' }).click();
  await signedOut.page.waitForURL(/\/sign-in\?from=/);
  const { page, check } = await visit(path, { as: { userId: ownerId } });
  await page.getByRole('button', { name: 'Accept invitation' }).waitFor();
  await check();
  await page.getByRole('button', { name: 'Accept invitation' }).click();
  await page.waitForURL(/:\d+\/$/);
});

test('a signed-in user without a workspace accepts', async () => {
  const { userId, email } = await service.signIn('viewer');
  await sql`delete from members where user_id = ${userId}`.execute(service.db);
  const body = { email, role: 'viewer' };
  const user = service.ownerId;
  const invitation = await service.call('POST', '/api/v1/invitations', { user, body });
  const path = new URL(invitation.body.url).pathname;
  const { page } = await visit(path, { as: { userId } });
  await page.getByRole('button', { name: 'Accept invitation' }).click();
  await page.waitForURL(/:\d+\/$/);
});

test('an invalid link shows an error', async () => {
  const { page, check } = await visit('/invitations/unknown');
  await page.getByRole('heading', { name: 'Invalid invitation link' }).waitFor();
  assert.equal(await page.getByRole('button').count(), 0);
  await check();
});

test("shows the server's message and retries", async () => {
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
