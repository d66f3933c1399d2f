import assert from 'node:assert/strict';
import { test } from 'node:test';
import { password } from '../../harness/sessions.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard({ publicUrl: 'http://cueline.example.com/cueline' });

test('the dashboard works under a path: sign-in, pages, links and reloads', async () => {
  const { email } = await service.signIn('owner');
  const { page, check } = await visit('/cueline/agents?q=none');
  const outside: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (!pathname.startsWith('/cueline/')) outside.push(pathname);
  });
  await page.waitForURL(/\/cueline\/sign-in\?from=%2Fagents/);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/cueline\/agents\?q=none$/);
  await page.getByRole('link', { name: 'Settings' }).first().click();
  await page.waitForURL(/\/cueline\/settings\/workspace$/);
  await page.reload();
  await page.getByRole('heading', { name: 'Settings', exact: true }).waitFor();
  const reference = page.getByRole('link', { name: 'API reference' });
  assert.equal(await reference.getAttribute('href'), '/cueline/docs');
  await check();
  await page.goto('/cueline/settings/account');
  await page.getByRole('button', { name: 'Delete account' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete account' }).click();
  await page.waitForURL(/\/cueline\/sign-in$/);
  assert.deepEqual(outside, [], 'other paths of the host belong to other services');
});
