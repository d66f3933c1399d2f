import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDashboard } from './harness.ts';

const client = { clientId: 'id', clientSecret: 'secret' };
const { visit } = await openDashboard({
  publicUrl: 'http://127.0.0.1:1',
  providers: { github: client },
});

test('shows only the configured identity providers', async () => {
  const { page, check } = await visit('/sign-in');
  await page.getByRole('button', { name: 'Continue with GitHub' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Continue with Google' }).count(), 0);
  await check();
});

test('shows an error if the identity provider is unreachable', async () => {
  const { page, check } = await visit('/sign-in', { intercepts: true });
  await page.route('**/api/auth/sign-in/social', (route) =>
    route.fulfill({
      status: 503,
      json: { error: 'Unavailable', message: 'No answer.', code: 'INTERNAL', requestId: 'req_1' },
    }),
  );
  await page.getByRole('button', { name: 'Continue with GitHub' }).click();
  await page.getByRole('alert').getByText('No answer.').waitFor();
  await check();
});
