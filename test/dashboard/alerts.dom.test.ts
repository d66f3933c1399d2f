import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addEndpoint } from '../../harness/endpoints.ts';
import { startReceiver, toReceivers } from '../../harness/receiver.ts';
import { openPages } from './in-dom.ts';

const { service, visit } = await openPages({ config: toReceivers });
const { key } = await service.key();
const receiver = await startReceiver();
after(receiver.close);

test('an alert that nobody would receive says so, and gets an endpoint and a test', async () => {
  const { page, check } = await visit('/settings/alerts', { as: 'owner' });
  await page.getByRole('button', { name: 'Add alert' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Add alert' });
  await dialog.getByText('Nobody. No endpoint subscribes').waitFor();
  assert.equal(await dialog.getByRole('button', { name: 'Send a test' }).count(), 0);
  await dialog.getByLabel('Fires above (%)').fill('20');
  await dialog.getByRole('button', { name: 'Add an endpoint' }).click();
  const form = page.getByRole('dialog', { name: 'Add endpoint' });
  await form.getByLabel('URL').fill(receiver.url);
  await form.getByLabel('Description').fill('On call');
  await check();
  await form.getByRole('button', { name: 'Add endpoint' }).click();
  await page
    .getByRole('dialog', { name: 'Signing secret' })
    .getByRole('button', { name: 'Done' })
    .click();
  await dialog.getByText('On call').waitFor();
  await dialog.getByRole('button', { name: 'Send a test' }).click();
  const [request] = await receiver.received(1);
  assert.equal(request?.event.type, 'ping');
  // What was typed before is still there, and no field but these needs an answer.
  await dialog.getByRole('button', { name: 'Add alert' }).click();
  await page.getByText('Failure rate above 20%').first().waitFor();
  const { alerts } = (await service.call('GET', '/api/v1/alerts', { key })).body;
  assert.deepEqual([alerts[0].name, alerts[0].threshold], ['Failure rate above 20%', 0.2]);
  const { endpoints } = (await service.call('GET', '/api/v1/endpoints', { key })).body;
  assert.deepEqual(endpoints[0].eventTypes, ['alert.fired', 'alert.cleared']);
});

test('the dialog names the endpoints that subscribe to alerts', async () => {
  await addEndpoint(service, key, {
    url: receiver.url,
    description: 'Shop',
    eventTypes: ['key.revoked'],
  });
  await addEndpoint(service, key, {
    url: receiver.url,
    description: 'Pager',
    eventTypes: ['alert.fired'],
  });
  const { page } = await visit('/settings/alerts', { as: 'owner' });
  await page.getByRole('button', { name: 'Add alert' }).first().click();
  const notified = page.getByRole('dialog').getByRole('region', { name: 'Who is notified' });
  await notified.getByText('Pager').waitFor();
  assert.equal(await notified.getByText('Shop').count(), 0);
  assert.equal(await notified.getByText('(owner)').count(), 0);
});

test('where the server sends e-mail, the dialog names the owners', async () => {
  const smtp = { url: 'smtp://127.0.0.1:9', from: 'Cueline <cueline@example.com>' };
  const mailing = await openPages({ config: { smtp }, publicUrl: 'http://127.0.0.1:9' });
  const { page } = await mailing.visit('/settings/alerts', { as: 'owner' });
  await page.getByRole('button', { name: 'Add alert' }).first().click();
  const notified = page.getByRole('dialog').getByRole('region', { name: 'Who is notified' });
  await notified.getByText('(owner)').first().waitFor();
  assert.equal(await notified.getByText('Nobody').count(), 0);
});

test('a new endpoint subscribes to alerts unless the owner says otherwise', async () => {
  const { page } = await visit('/settings/endpoints', { as: 'owner' });
  await page.getByRole('button', { name: 'Add endpoint' }).first().click();
  const form = page.getByRole('dialog');
  await form.getByLabel('URL').fill(receiver.url);
  await form.getByLabel('Description').fill('Plain');
  await form.getByRole('button', { name: 'Add endpoint' }).click();
  await page.getByRole('button', { name: 'Done' }).waitFor();
  const { endpoints } = (await service.call('GET', '/api/v1/endpoints', { key })).body;
  const added = endpoints.find((one: { description: string }) => one.description === 'Plain');
  const expected = ['execution.failed', 'workflow_run.failed', 'alert.fired', 'alert.cleared'];
  assert.deepEqual(added.eventTypes, expected);
});

test('previews an alert without a name, until its settings or the days change', async () => {
  const { page } = await visit('/settings/alerts', { as: 'owner' });
  await page.getByRole('button', { name: 'Add alert' }).first().click();
  const dialog = page.getByRole('dialog');
  const show = dialog.getByRole('button', { name: 'Show preview' });
  const outcome = dialog.getByText(/would (not )?have fired/);
  await show.click();
  await outcome.waitFor();
  await dialog.getByLabel('Preview').selectOption('1 day');
  await outcome.waitFor({ state: 'detached' });
  await show.click();
  await outcome.waitFor();
  await dialog.getByLabel('Fires above (%)').fill('20');
  await outcome.waitFor({ state: 'detached' });
});

test('editors see neither alerts nor endpoints', async () => {
  const { page } = await visit('/settings/workspace', { as: 'editor' });
  await page.getByText('AI Actions this month').waitFor();
  for (const name of ['Alerts', 'Endpoints']) {
    assert.equal(await page.getByRole('link', { name, exact: true }).count(), 0);
  }
});
