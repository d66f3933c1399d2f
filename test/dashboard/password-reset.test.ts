import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startMailServer } from '../../harness/mail-server.ts';
import { openDashboard } from './harness.ts';

const mailServer = await startMailServer();
after(mailServer.close);
const { service, visit } = await openDashboard({
  config: { smtp: { url: mailServer.url, from: 'cueline@example.com' } },
  publicUrl: 'https://cueline.example',
});

test('a forgotten password is reset with the link of a mail', async () => {
  const { email } = await service.signIn('owner');
  const { page, check } = await visit('/sign-in/reset');
  await page.getByLabel('Email').fill(email);
  await page.getByRole('button', { name: 'Send link' }).click();
  await page.getByText('a link is on its way').waitFor();
  await check({ inDarkMode: true });
  const [mail] = await mailServer.received(1);
  const [, token] = /sign-in\/reset\/(\S+)/.exec(mail?.text ?? '') ?? [];
  await page.goto(`/sign-in/reset/${token}`);
  await page.getByLabel('New password').first().fill('another horse battery');
  await check({ inDarkMode: true });
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByRole('heading', { name: 'Password changed' }).waitFor();
  await check();
  await page.goto(`/sign-in/reset/${token}`);
  await page.getByLabel('New password').first().fill('another horse battery');
  await page.getByRole('button', { name: 'Change password' }).click();
  assert.match(await page.getByRole('alert').innerText(), /unknown, used or has expired/);
});

test('the sign-in page offers it', async () => {
  const { page } = await visit('/sign-in');
  await page.getByRole('link', { name: 'Forgot your password?' }).click();
  await page.getByRole('heading', { name: 'Reset your password' }).waitFor();
});
