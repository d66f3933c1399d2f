import assert from 'node:assert/strict';
import { test } from 'node:test';
import { password } from '../../harness/sessions.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();

test('redirects to sign-in and back to the requested page', async () => {
  const { email } = await service.signIn('owner');
  const { page, check } = await visit('/agents?q=none');
  await page.waitForURL(/\/sign-in\?from=/);
  await check();
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/agents\?q=none$/);
  await page.getByRole('heading', { name: 'Agents', exact: true }).waitFor();
});

test('shows a wrong password with the request id', async () => {
  const { email } = await service.signIn('owner');
  const { page, check } = await visit('/sign-in');
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill('not the password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  const alert = page.getByRole('alert');
  await alert.waitFor();
  assert.match(await alert.innerText(), /Wrong email or password.*req_[0-9a-f]{24}/s);
  await check();
});

test('a link cannot redirect to another site after sign-in', async () => {
  const { email } = await service.signIn('viewer');
  const { page } = await visit('/sign-in?from=//example.com/');
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${service.url}/`);
});

test('signing out ends the session', async () => {
  const { page } = await visit('/agents', { as: 'owner' });
  await page.getByRole('button', { name: 'owner' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.waitForURL('**/sign-in');
  await page.goto('/agents');
  await page.waitForURL(/\/sign-in\?from=/);
});

test('without e-mail, there is no link to reset a password', async () => {
  const { page } = await visit('/sign-in');
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  assert.equal(await page.getByText('Forgot your password?').count(), 0);
});
