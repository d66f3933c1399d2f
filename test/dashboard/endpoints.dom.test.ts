import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { addEndpoint } from '../../harness/endpoints.ts';
import { startReceiver, status, toReceivers } from '../../harness/receiver.ts';
import { openPages } from './in-dom.ts';

const { service, visit } = await openPages({ config: toReceivers });
const { key } = await service.key();
const receiver = await startReceiver();
after(receiver.close);
/** What is shown of its URL. */
const shown = `${new URL(receiver.url).origin}/…`;

test('the delivery log shows request and response, and sends again', async () => {
  receiver.answer = status(500);
  const endpoint = await addEndpoint(service, key, { url: receiver.url });
  await endpoint.call('POST', '/test');
  // The page reads the state of the endpoint once.
  while (!(await endpoint.deliveries())[0]?.attempts.length) await setTimeout(20);
  const { page, check } = await visit(`/settings/endpoints/${endpoint.endpointId}`, {
    as: 'owner',
  });
  await page.getByText('Failing').waitFor();
  await page.getByRole('button', { name: /^Details of/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('status 500').first().waitFor();
  await dialog.getByText('"type": "ping"').waitFor();
  await check();
  receiver.answer = status(200);
  await dialog.getByRole('button', { name: 'Resend' }).click();
  await dialog.getByText('status 200').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await page.getByLabel('State').selectOption('failed');
  await page.getByText('No deliveries').waitFor();
  await page.getByLabel('State').selectOption('');
  await page.getByRole('button', { name: 'Replay…' }).click();
  await dialog.getByLabel('Deliveries').selectOption('');
  await check();
  await dialog.getByRole('button', { name: 'Replay' }).click();
  await dialog.getByText('1 deliveries are sent again.').waitFor();
});

test('an endpoint is edited, rotated, disabled, enabled and deleted', async () => {
  const endpoint = await addEndpoint(service, key, { url: receiver.url, description: 'Old' });
  const { page, check } = await visit(`/settings/endpoints/${endpoint.endpointId}`, {
    as: 'owner',
  });
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Edit' }).click();
  const url = dialog.getByPlaceholder(shown);
  await url.waitFor();
  await check();
  await url.fill('https://10.0.0.1/');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText(/^The URL does not point to a public address/).waitFor();
  await url.fill('');
  await dialog.getByLabel('Description').fill('Shop');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByText('Shop').waitFor();
  const { length } = receiver.requests;
  await endpoint.call('POST', '/test');
  await receiver.received(length + 1);
  await page.getByRole('button', { name: 'Rotate secret' }).click();
  await check();
  await dialog.getByRole('button', { name: 'Rotate' }).click();
  const secret = await dialog.getByText(/^whsec_/).innerText();
  assert.notEqual(secret, endpoint.secret);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByText('Disabled', { exact: true }).waitFor();
  await check();
  await page.getByRole('button', { name: 'Enable' }).click();
  await page.getByRole('button', { name: 'Disable' }).waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Add endpoint' }).first().waitFor();
  await endpoint.call('GET').then(
    () => assert.fail('the endpoint still exists'),
    (error) => assert.match(String(error), /404/),
  );
});
