import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { makePrompt } from '../../harness/prompts.ts';
import { ModelFailure } from '../../src/core/model/model-port.ts';
import { openDashboard } from './harness.ts';

/** What the server knows about providers: those of its environment, and the models that each lists. */

const lists: Record<string, string[]> = { openai: ['gpt-a', 'gpt-b'], mine: ['own-one'] };
const asked: string[] = [];
const { service, visit } = await openDashboard({
  directory: {
    environment: [
      { name: 'openai', kind: 'openai' },
      { name: 'anthropic', kind: 'anthropic' },
    ],
    async listModels(_workspaceId, name) {
      asked.push(name);
      if (name === 'anthropic') throw new ModelFailure('PROVIDER_AUTH', 'No such key.');
      return lists[name] ?? [];
    },
    listedPrices: () => [],
  },
});
const user = service.ownerId;
await service.call('PUT', '/api/v1/providers/mine', { user, body: { kind: 'openai' } });

test('shows the providers of the environment and tests them', async () => {
  const { page, check } = await visit('/settings/providers', { as: 'owner' });
  const table = page.getByRole('table', { name: 'Providers of the server’s environment' });
  const row = (name: string) => table.getByRole('row').filter({ hasText: name });
  await row('openai').getByText('All workspaces').waitFor();
  await page.getByRole('button', { name: 'Test openai' }).click();
  await row('openai').getByText('Connected, 2 models').waitFor();
  await page.getByRole('button', { name: 'Test anthropic' }).click();
  await row('anthropic').getByText('PROVIDER_AUTH').waitFor();
  await row('anthropic').getByText('No such key.').waitFor();
  await check({ inDarkMode: true });
  const viewer = await visit('/settings/providers', { as: 'viewer' });
  await viewer.page.getByRole('cell', { name: 'anthropic' }).first().waitFor();
  assert.equal(await viewer.page.getByRole('button', { name: 'Test openai' }).count(), 0);
  await viewer.check();
});

test('providers of the environment that could not be loaded are not shown as none', async () => {
  const { page, check } = await visit('/settings/providers', { as: 'owner', intercepts: true });
  const json = { message: 'Out of order.', code: 'INTERNAL_ERROR' };
  const path = '**/api/v1/providers';
  await page.route(path, (route) => route.fulfill({ status: 500, json }));
  await page.reload();
  const card = page.getByRole('region', { name: 'From the server’s environment' });
  await card.getByText('Out of order.').waitFor();
  await check();
  await page.unroute(path);
  await card.getByRole('button', { name: 'Try again' }).click();
  await card.getByRole('cell', { name: 'anthropic' }).first().waitFor();
});

test('suggests the models of the providers, which are asked once a field has the focus', async () => {
  const agent = await addAgent(service);
  asked.splice(0);
  const { page, check } = await visit(`/agents/${agent.agentId}/settings`, { as: 'editor' });
  const model = page.getByRole('combobox', { name: 'Model', exact: true });
  await model.waitFor();
  assert.equal(asked.length, 0);
  await model.fill('gpt');
  await page.getByRole('option', { name: 'openai/gpt-b' }).click();
  assert.equal(await model.inputValue(), 'openai/gpt-b');
  assert.ok(asked.includes('mine') && asked.includes('ollama'), asked.join());
  const fallback = page.getByRole('combobox', { name: 'Fallback models' });
  await fallback.fill('own');
  await page.getByRole('option', { name: 'mine/own-one' }).click();
  await fallback.fill('anthropic');
  // A provider without a list is suggested as a prefix.
  await page.getByRole('option', { name: 'anthropic/', exact: true }).waitFor();
  await fallback.fill('anthropic/any');
  await page.keyboard.press('Enter');
  await check();
  const sent = page.waitForRequest((request) => request.method() === 'PATCH');
  await page.getByRole('button', { name: 'Save changes' }).click();
  assert.deepEqual((await sent).postDataJSON().agentConfig.models, [
    'openai/gpt-b',
    'mine/own-one',
    'anthropic/any',
  ]);
});

test('suggests them in the editor of a prompt, for a price and for a call', async () => {
  const { promptId } = await makePrompt(service, { user: 'Hello' });
  const { page, check } = await visit(`/prompts/${promptId}`, { as: 'owner' });
  await page.getByRole('combobox', { name: 'Model' }).click();
  await page.getByRole('option', { name: 'openai/gpt-a' }).waitFor();
  await page.goto('/settings/providers');
  await page.getByRole('button', { name: 'Set price' }).click();
  await page.getByRole('dialog').getByRole('combobox', { name: 'Model' }).click();
  await page.getByRole('option', { name: 'mine/own-one' }).waitFor();
  await check();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Call a model of mine' }).click();
  await page.getByRole('dialog').getByRole('combobox', { name: 'Model' }).click();
  await page.getByRole('option', { name: 'mine/own-one' }).waitFor();
  assert.equal(await page.getByRole('option', { name: 'openai/gpt-a' }).count(), 0);
});
