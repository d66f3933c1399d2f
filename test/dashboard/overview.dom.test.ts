import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent, ended } from '../../harness/agents.ts';
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
