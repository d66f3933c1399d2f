import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { makeWorkflow } from '../../harness/created-workflows.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();

test('a workflow run is a timeline with tokens and costs by step and item, live while it runs', async () => {
  const { agentId } = await addAgent(service, { model: 'fake/model' });
  const { path } = await makeWorkflow(service, {
    input: { required: ['names'] },
    steps: [
      { name: 'report', agentId, variables: { name: '{{steps.greet.output}}' } },
      {
        name: 'greet',
        agentId,
        forEach: { list: '{{input.names}}', concurrency: 1 },
        variables: { name: '{{item}}' },
      },
      { name: 'never', agentId, when: 'false', variables: { name: 'x' } },
    ],
  });
  const usage = { inputTokens: 1_200, outputTokens: 34, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const charged = { usage, cost: { usd: '0.25', known: true, source: 'table' } } as const;
  service.models.script(charged);
  const second = service.models.hold();
  const { key } = await service.key();
  const body = { input: { names: ['Ada', 'Bo'] } };
  const { body: run } = await service.call('POST', `${path}/execute`, { key, body });
  await second.arrived;
  const { page, check } = await visit(run.statusUrl.replace('/api/v1', ''), { as: 'viewer' });
  const steps = page.getByRole('table', { name: 'Timeline of the steps' });
  const items = page.getByRole('table', { name: 'Started items' });
  const step = (name: string) => steps.getByRole('row').filter({ hasText: name });
  // In the order in which they started, not in that of the definition.
  await step('greet').getByText('1 of 2 items done').waitFor();
  const names = await steps.getByRole('row').locator('td:first-child').allInnerTexts();
  assert.match(names[0] ?? '', /^greet/);
  await step('greet').getByRole('cell', { name: '$0.25', exact: true }).waitFor();
  await step('greet').getByText('1,234').waitFor();
  const first = items.getByRole('row').nth(1);
  await first.getByRole('cell', { name: '$0.25', exact: true }).waitFor();
  await first.getByText('1,200 input, 34 output').waitFor();
  await first.getByRole('link', { name: 'Record of item 0' }).waitFor();
  await items.getByRole('row').nth(2).getByText('processing').waitFor();
  await check({ inDarkMode: true });

  // The bar of what is in progress grows with the time of the run.
  const end = steps.getByRole('columnheader', { name: /^Timeline/ });
  const before = await end.innerText();
  while ((await end.innerText()) === before) await page.waitForTimeout(50);
  second.release(charged);
  await page.getByRole('status').getByText('success').waitFor();
  await step('greet').getByRole('cell', { name: '$0.50', exact: true }).waitFor();
  await step('report')
    .getByRole('img', { name: /^Started .* after the workflow run$/ })
    .last()
    .waitFor();
  await step('never').getByText('condition not met').waitFor();
  const metrics = page.getByRole('definition');
  await metrics.getByText('$0.50', { exact: true }).waitFor();
  await metrics.getByText(/^2,483/).waitFor();
  await check({ inDarkMode: true });
  await page.setViewportSize({ width: 390, height: 844 });
  await step('greet').getByRole('img').first().waitFor();
  await check();
});
