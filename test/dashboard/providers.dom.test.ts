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
  },
});
const user = service.ownerId;
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
