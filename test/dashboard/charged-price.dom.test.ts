import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent, run } from '../../harness/agents.ts';
import { openPages } from './in-dom.ts';

const { service, visit } = await openPages();
const { key } = await service.key();

test('a record shows the price that it was charged with, and the list since when one is valid', async () => {
  const put = (outputPerMillion: number) =>
    service.call('PUT', '/api/v1/prices', {
      user: service.ownerId,
      body: { model: 'cueline/echo', inputPerMillion: 0, outputPerMillion },
    });
  await put(100);
  const agent = await addAgent(service);
  service.models.script(async ({ setup }) => {
    const priceId = setup.price?.id;
    assert.ok(priceId);
    return { cost: { usd: '0.0005', known: true, source: 'workspace', priceId } };
  });
  const { executionId } = await run(service, agent, key);
  await put(200);
  const { page } = await visit(`/history/${agent.agentId}/${executionId}`, { as: 'owner' });
  await page.getByText('$0 in, $100 out').waitFor();
  await page.getByText("per million tokens, the workspace's price since").waitFor();
  const { page: settings } = await visit('/settings/providers', { as: 'owner' });
  await settings.getByRole('columnheader', { name: 'Since' }).waitFor();
  await settings.getByText('$200 / M').waitFor();
});
