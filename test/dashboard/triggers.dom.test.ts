import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { addAgent, ended } from '../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../harness/created-workflows.ts';
import { openPages } from './in-dom.ts';

const { service, visit } = await openPages();

test('a webhook of another service: its secret, its whole URL and its last events', async () => {
  const { agentId } = await addAgent(service);
  const { workflowId, path } = await makeWorkflow(service, greeting(agentId));
  const { page, check } = await visit(`/workflows/${workflowId}/triggers`, { as: 'editor' });
  await page.getByRole('button', { name: 'New webhook' }).click();
  const form = page.getByRole('dialog');
  await form.getByRole('textbox', { name: 'Name' }).fill('Code');
  await form.getByLabel('Signed as').selectOption('GitHub');
  await form.getByRole('textbox', { name: 'Secret of the sender' }).fill('text at GitHub');
  await check();
  await form.getByRole('button', { name: 'Create webhook' }).click();
  await page.getByText('choose the content type application/json').waitFor();
  await check();
  await page.getByRole('button', { name: 'Done' }).click();
  const { key } = await service.key();
  const { body: list } = await service.call('GET', `${path}/webhooks`, { key });
  const [hook] = list.webhooks;
  const url = page.getByRole('textbox', { name: 'URL of Code' }).first();
  assert.match(await url.inputValue(), new RegExp(`^https?://.*${hook.path}$`));
  const body = '{"name":"x"}';
  const mac = createHmac('sha256', 'text at GitHub').update(body).digest('hex');
  for (const signature of [`sha256=${mac}`, 'sha256=none']) {
    const headers = { 'x-hub-signature-256': signature, 'x-github-delivery': 'delivery-1' };
    await service.call('POST', hook.path, { body, headers });
  }
  await page.getByRole('button', { name: 'Actions for Code' }).click();
  await page.getByRole('menuitem', { name: 'Events' }).click();
  const log = page.getByRole('dialog');
  await log.getByText('202 received').waitFor();
  await log.getByText('401 rejected').waitFor();
  await log.getByText('delivery-1').waitFor();
  await log.getByRole('link', { name: 'Workflow run' }).waitFor();
  await check();
});

test('the overview of a workflow has its success rate, duration, cost and the way to run it', async () => {
  const { agentId } = await addAgent(service);
  const { workflowId, path } = await makeWorkflow(service, greeting(agentId));
  const { key } = await service.key();
  const body = { input: { name: 'x' } };
  const { body: run } = await service.call('POST', `${path}/execute`, { key, body });
  await ended(service, run.statusUrl, key);
  const { page, check } = await visit(`/workflows/${workflowId}`, { as: 'editor' });
  const figures = page.getByRole('region', { name: 'Figures' });
  await figures.getByText(/^100\s?%$/).waitFor();
  await figures.getByText('of the newest 1 that ended').first().waitFor();
  await figures.getByText('$0.00').waitFor();
  await check();
  await page.getByRole('link', { name: 'Run', exact: true }).last().click();
  await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
  const viewer = await visit(`/workflows/${workflowId}`, { as: 'viewer' });
  await viewer.page.getByText(/^100\s?%$/).waitFor();
  // Only the tab.
  assert.equal(await viewer.page.getByRole('link', { name: 'Run', exact: true }).count(), 1);
});

test('a run and a schedule take the most that a run may cost, and another run keeps it', async () => {
  const { agentId } = await addAgent(service, { model: 'cueline/echo' });
  const { workflowId, path } = await makeWorkflow(service, greeting(agentId));
  const { page, check } = await visit(`/workflows/${workflowId}/run`, { as: 'editor' });
  await page.getByRole('textbox', { name: 'name' }).fill('x');
  await page.getByRole('textbox', { name: 'Max cost of the run (USD)' }).fill('0.05');
  await check();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('$0.00 of at most $0.05').waitFor();
  await page.getByRole('button', { name: 'Run again' }).click();
  const again = page.getByRole('dialog');
  await again.getByText('It may cost at most $0.05.').waitFor();
  await again.getByRole('button', { name: 'Run', exact: true }).click();
  await again.waitFor({ state: 'hidden' });
  const { key } = await service.key();
  const { body } = await service.call('GET', `${path}/runs`, { key });
  assert.deepEqual(
    body.runs.map(({ maxCostUSD }: { maxCostUSD: number }) => maxCostUSD),
    [0.05, 0.05],
  );
  const triggers = await visit(`/workflows/${workflowId}/triggers`, { as: 'editor' });
  await triggers.page.getByRole('button', { name: 'New schedule' }).click();
  const form = triggers.page.getByRole('dialog');
  await form.getByRole('textbox', { name: 'Input' }).fill('{"name": "x"}');
  await form.getByRole('textbox', { name: 'Max cost per run (USD)' }).fill('0.5');
  await form.getByRole('button', { name: 'Create' }).click();
  await form.waitFor({ state: 'hidden' });
  const { body: list } = await service.call('GET', `${path}/schedules`, { key });
  assert.equal(list.schedules[0].maxCostUSD, 0.5);
});
