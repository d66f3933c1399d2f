import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addEndpoint, verified } from '../../harness/endpoints.ts';
import { startReceiver, status, toReceivers } from '../../harness/receiver.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard({ config: toReceivers });
const { key } = await service.key();
const receiver = await startReceiver();
after(receiver.close);
/** What is shown of its URL. */
const shown = `${new URL(receiver.url).origin}/…`;

test('an owner creates an endpoint, sees its secret once and sends a ping', async () => {
  const { page, check } = await visit('/settings/endpoints', { as: 'owner' });
  await page.getByText('No endpoints yet').waitFor();
  await check({ inDarkMode: true });
  await page.getByRole('button', { name: 'Add endpoint' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('URL').fill('https://10.0.0.1/events');
  await dialog.getByLabel('alert.fired').check();
  await dialog.getByRole('button', { name: 'Add endpoint' }).click();
  await dialog
    .getByText(/private/)
    .first()
    .waitFor();
  await check({ inDarkMode: true });
  await dialog.getByLabel('URL').fill(receiver.url);
  await dialog.getByRole('button', { name: 'Add endpoint' }).click();
  const secret = await dialog.getByText(/^whsec_/).innerText();
  await check({ inDarkMode: true });
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('link', { name: shown }).click();
  await page.getByText('No deliveries').waitFor();
  await page.getByRole('button', { name: 'Send ping' }).click();
  const [ping] = await receiver.received(1);
  assert.equal(ping && verified(secret, ping).type, 'ping');
  await page.getByText('delivered', { exact: true }).waitFor();
  await check({ inDarkMode: true });
});

test('owners see that an endpoint was disabled, others do not', async () => {
  receiver.answer = status(410);
  const endpoint = await addEndpoint(service, key, { url: receiver.url });
  await endpoint.call('POST', '/test');
  while ((await endpoint.call('GET')).enabled)
    await new Promise((resolve) => setTimeout(resolve, 20));
  const { page, check } = await visit('/agents', { as: 'owner' });
  await page.getByText('An endpoint was disabled').waitFor();
  await check({ inDarkMode: true });
  await page.getByRole('link', { name: 'Show endpoint' }).click();
  await page.getByText('Disabled: answered 410').waitFor();
  const editor = await visit('/agents', { as: 'editor' });
  await editor.page.getByRole('heading', { name: 'Agents', exact: true }).waitFor();
  assert.equal(await editor.page.getByText('An endpoint was disabled').count(), 0);
});
