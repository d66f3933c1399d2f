import { test } from 'node:test';
import { ModelFailure } from '../../src/core/model/model-port.ts';
import { openPages } from './in-dom.ts';

/** What the server knows about providers: those of its environment, and the models that each lists. */

const lists: Record<string, string[]> = { openai: ['gpt-a', 'gpt-b'], mine: ['own-one'] };
const asked: string[] = [];
const { service, visit } = await openPages({
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
    listedPrices: (_workspaceId, name) =>
      name === 'openai' ? [priced('gpt-a', '2.5'), priced('gpt-b', '0.15')] : [],
  },
});
const user = service.ownerId;

function priced(model: string, inputPerMillion: string) {
  const cache = { cacheReadPerMillion: '0.1', cacheWritePerMillion: null };
  return { model, inputPerMillion, outputPerMillion: '10', ...cache };
}

await service.call('PUT', '/api/v1/providers/mine', { user, body: { kind: 'openai' } });

test('a provider of the environment checks off its step of the first call', async () => {
  const { ownerId: userId } = await service.workspace();
  const { page } = await visit('/', { as: { userId } });
  const steps = page.getByRole('region', { name: /^Your first call/ });
  const step = steps.getByRole('listitem').filter({ hasText: 'Connect a provider' });
  await step.getByText('Done:').waitFor();
  await steps.getByText('1 of 5 done').waitFor();
});

test("a workspace's own provider replaces the one of the environment", async () => {
  const { workspaceId: _, ownerId } = await service.workspace();
  const body = { kind: 'openai', apiKey: 'sk-own' };
  await service.call('PUT', '/api/v1/providers/openai', { user: ownerId, body });
  const { page } = await visit('/settings/providers', { as: { userId: ownerId } });
  await page.getByText('Other workspaces: yours has its own').waitFor();
});

test('shows the built-in prices of each provider, of the environment too, and finds one by its model', async () => {
  const { page, check } = await visit('/settings/providers', { as: 'viewer' });
  await page.getByRole('button', { name: 'Built-in prices of openai' }).click();
  const dialog = page.getByRole('dialog', { name: 'Built-in prices of openai' });
  await dialog
    .getByRole('row', { name: /^openai\/gpt-a/ })
    .getByText('$2.5 / M')
    .waitFor();
  await dialog.getByLabel('Find a model').fill('gpt-B');
  await dialog.getByRole('row', { name: /^openai\/gpt-a/ }).waitFor({ state: 'detached' });
  await dialog
    .getByRole('row', { name: /^openai\/gpt-b/ })
    .getByText('$0.15 / M')
    .waitFor();
  await check();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Built-in prices of mine' }).click();
  await page.getByText('The built-in table has no prices of this provider.').waitFor();
});
