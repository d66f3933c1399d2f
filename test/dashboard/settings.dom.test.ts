import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelFailure } from '../../src/core/model/model-port.ts';
import { openPages } from './in-dom.ts';

const connection: { failure: ModelFailure | null } = { failure: null };
const { service, visit } = await openPages({
  async testConnection(_, __, ___, model) {
    if (connection.failure) throw connection.failure;
    if (model === null) return undefined;
    return {
      request: { method: 'POST', url: 'https://h.example/v1/x', headers: {}, body: { model } },
      answer: { status: 200, headers: {}, body: { text: 'OK' } },
      ...{ latencyMs: 12, failure: null },
    };
  },
});

test('viewers see settings but no actions', async () => {
  const { page, check } = await visit('/settings/workspace', { as: 'viewer' });
  await page.getByText('AI Actions this month').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Save plan' }).count(), 0);
  assert.equal(await page.getByRole('link', { name: 'Audit log' }).count(), 0);
  await check();
});

test('an owner renames the workspace; an editor sees its name', async () => {
  const { page, check } = await visit('/settings/workspace', { as: 'owner' });
  const name = page.getByRole('textbox', { name: 'Workspace name' });
  await name.fill('Acme & Söhne');
  await check();
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByText('Acme & Söhne').first().waitFor();
  const editor = await visit('/settings/workspace', { as: 'editor' });
  await editor.page.getByText('Acme & Söhne').first().waitFor();
  assert.equal(await editor.page.getByRole('button', { name: 'Rename' }).count(), 0);
});

test('invites, changes and removes members', async () => {
  const { email } = await service.signIn('viewer');
  const { page, check } = await visit('/settings/members', { as: 'owner' });
  await page.getByLabel('Email').fill('guest@example.com');
  await page.getByRole('button', { name: 'Create link' }).click();
  await page.getByText(/\/invitations\//).waitFor();
  await check();
  await page.getByRole('button', { name: 'Revoke invitation of guest@example.com' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('The link stops working').waitFor();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('table', { name: 'Open invitations' }).waitFor({ state: 'hidden' });
  assert.equal(await page.getByText(/\/invitations\//).count(), 0);
  const role = page.getByRole('combobox', { name: `Role of ${email}` });
  await role.selectOption('editor');
  await dialog.getByText('will be an editor').waitFor();
  assert.equal(await role.inputValue(), 'viewer');
  await check();
  await dialog.getByRole('button', { name: 'Change to editor' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: `Remove ${email}` }).click();
  await dialog.getByText('all keys that they created are revoked').waitFor();
  await check();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Leave this workspace' }).click();
  const leaving = page.getByRole('dialog', { name: 'Leave this workspace?' });
  await leaving.getByRole('button', { name: 'Leave', exact: true }).waitFor();
});

test('adds a provider without ever showing its credential', async () => {
  const { page, check } = await visit('/settings/providers', { as: 'owner' });
  await page.getByRole('heading', { name: 'No stored providers' }).waitFor();
  await check();
  await page.getByRole('button', { name: 'Add provider' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Type').selectOption('Anthropic');
  await dialog.getByLabel('API key').fill('sk-secret');
  await dialog.getByLabel('Base URL').fill('http://169.254.169.254/');
  await dialog.getByRole('button', { name: 'Save anthropic' }).click();
  await dialog.getByRole('alert').getByText('req_').waitFor();
  await check();
  await dialog.getByLabel('Base URL').fill('');
  await dialog.getByText('More request settings').click();
  await dialog.getByLabel('Headers').fill('x-gateway-key hidden');
  await dialog.getByRole('button', { name: 'Save anthropic' }).click();
  await dialog.getByRole('alert').getByText('Each header must be on a line').waitFor();
  await dialog.getByLabel('Headers').fill('x-gateway-key: hidden\nx-b: c');
  await dialog.getByLabel('Query parameters').fill('v=1');
  await dialog.getByLabel('Fields of the body (JSON)').fill('{"service_tier": "auto"}');
  await check();
  await dialog.getByRole('button', { name: 'Save anthropic' }).click();
  await page.getByRole('cell', { name: 'Stored' }).waitFor();
  const saved = await service.call('GET', '/api/v1/providers/anthropic', {
    user: service.ownerId,
  });
  assert.partialDeepStrictEqual(saved.body, {
    ...{ headerNames: ['x-b', 'x-gateway-key'], queryNames: ['v'] },
    bodyExtraNames: ['service_tier'],
  });
  await page.getByRole('button', { name: 'Edit anthropic' }).click();
  await dialog.getByText('More request settings').click();
  await dialog.getByText('Enter x-b, x-gateway-key, v, service_tier again').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  assert.equal(await page.getByText('sk-secret').count(), 0);
  await page.getByRole('button', { name: 'Delete anthropic' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'No stored providers' }).waitFor();
});

test('tests a connection and shows its error', async () => {
  const path = '/api/v1/providers/mine';
  const body = { kind: 'openai', apiKey: 'sk-secret' };
  await service.call('PUT', path, { user: service.ownerId, body });
  const { page, check } = await visit('/settings/providers', { as: 'owner' });
  const row = page.getByRole('row').filter({ hasText: 'mine' });
  const press = () => row.getByRole('button', { name: 'Test mine' }).click();
  await press();
  await row.getByText(/^Connected, \d+ ms$/).waitFor();
  await check();
  await row.getByRole('button', { name: 'Call a model of mine' }).click();
  const dialog = page.getByRole('dialog', { name: 'Call a model of mine' });
  await dialog.getByRole('combobox', { name: 'Model' }).fill('gpt-x');
  await dialog.getByRole('button', { name: 'Send' }).click();
  await dialog.getByText('Answered in 12 ms').waitFor();
  await dialog.getByText('"model": "gpt-x"').waitFor();
  await dialog.getByText('"text": "OK"').waitFor();
  await check();
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
  connection.failure = new ModelFailure('PROVIDER_AUTH', 'The provider answered 401: no such key');
  await press();
  await row.getByText('PROVIDER_AUTH').waitFor();
  await row.getByText('The provider answered 401: no such key').waitFor();
  await check();
  connection.failure = null;
  await service.call('DELETE', path, { user: service.ownerId });
  await press();
  await row.getByText('There is no such provider.').waitFor();
});

test('sets a price with all its digits', async () => {
  const { page, check } = await visit('/settings/providers', { as: 'owner' });
  await page.getByRole('button', { name: 'Set price' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('combobox', { name: 'Model' }).fill('openai/own');
  await dialog.getByLabel('Input').fill('0.123456789012');
  await dialog.getByLabel('Output').fill('2');
  await dialog.getByRole('button', { name: 'Set price' }).click();
  await page.getByRole('cell', { name: '$0.123456789012 / M' }).waitFor();
  await check();
});

test('changing the password requires the current one', async () => {
  const { page, check } = await visit('/settings/account', { as: 'viewer' });
  await page.getByLabel('Current password').fill('not the password');
  await page.getByLabel('New password').fill('a longer password');
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByRole('alert').getByText('req_').waitFor();
  await check();
});
