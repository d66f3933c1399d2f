import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent, ended, run } from '../../harness/agents.ts';
import { ModelFailure } from '../../src/core/model/model-port.ts';
import { openPages } from './in-dom.ts';

const { service, visit } = await openPages();

test('viewers see no checklist', async () => {
  const { page } = await visit('/', { as: 'viewer' });
  await page.getByText('AI Actions this month').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Dismiss' }).count(), 0);
});

test('a chart shows executions by status or the cost by model', async () => {
  const agent = await addAgent(service, { user: '{{name}}' });
  const { key } = await service.key();
  const body = { variables: { name: 'x' } };
  const { body: accepted } = await service.call('POST', `${agent.path}/execute`, { key, body });
  await ended(service, accepted.statusUrl, key);
  const { page, check } = await visit('/', { as: 'viewer' });
  const chart = page.getByRole('region', { name: 'Over time' });
  await chart.getByText('Executions by hour').waitFor();
  await chart.getByText('success').first().waitFor();
  await check();
  await chart.getByText('Cost by model').click();
  await chart.getByText('Cost by hour').waitFor();
});

test('failures with more codes than rows lead to the others', async () => {
  const agent = await addAgent(service);
  const { key } = await service.key();
  const codes = ['PROVIDER_AUTH', 'PROVIDER_QUOTA', 'CONTEXT_LENGTH', 'MODEL_NOT_FOUND'] as const;
  for (const code of [...codes, 'CONTENT_FILTERED', 'PROVIDER_NOT_CONFIGURED'] as const) {
    service.models.script(new ModelFailure(code, 'Scripted.'));
    await run(service, agent, key);
  }
  const { page, check } = await visit('/', { as: 'owner' });
  const list = page.getByRole('region', { name: 'Failures by code' });
  await list.getByRole('link', { name: '2 more codes' }).waitFor();
  assert.equal(await list.getByRole('listitem').count(), 5);
  await check();
});
