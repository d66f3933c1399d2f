import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { makeWorkflow } from '../../harness/created-workflows.ts';
import { scriptedModels } from '../../harness/models.ts';
import { ModelFailure, noCost, noUsage } from '../../src/core/model/model-port.ts';
import { openDashboard } from './harness.ts';

/** A workflow run with failed items is not plain green, and these items run again. */

let fails = true;
const models = scriptedModels();
const { service, visit } = await openDashboard({
  models: {
    call(call, emit) {
      if (!fails || !call.user.includes('bad')) return models.call(call, emit);
      const usage = { retryable: false, usage: noUsage, cost: noCost };
      return Promise.reject(new ModelFailure('PROVIDER_AUTH', 'No.', usage));
    },
  },
});
const { key } = await service.key();
const agent = await addAgent(service, { config: { maxAttempts: 1 } });
const step = (name: string) => ({
  ...{ name, agentId: agent.agentId, onFailure: 'continue' },
  forEach: { list: '{{input.list}}', concurrency: 5, max: 1_000 },
  variables: { name: '{{item}}' },
});

async function runItems(list: readonly string[], names = ['each']) {
  fails = true;
  const definition = { input: { required: ['list'] }, steps: names.map(step) };
  const { workflowId, path } = await makeWorkflow(service, definition);
  const started = await service.call('POST', `${path}/execute`, { key, body: { input: { list } } });
  await service.call('GET', `${started.body.statusUrl}?wait=60`, { key });
  fails = false;
  return { workflowId, path, workflowRunId: started.body.workflowRunId as string };
}

const counts = '3 of 5 succeeded, 2 failed';
const list = ['a', 'bad 1', 'c', 'bad 2', 'e'];

test('in the list, the graph, the steps and the head of the run; the filter finds it', async () => {
  const { workflowId, path, workflowRunId } = await runItems(list);
  const body = { input: { list: ['a'] } };
  const plain = await service.call('POST', `${path}/execute`, { key, body });
  await service.call('GET', `${plain.body.statusUrl}?wait=60`, { key });
  const { page, check } = await visit(`/workflows/${workflowId}/runs`, { as: 'editor' });
  const rows = page.getByRole('table', { name: 'Workflow runs' }).locator('tbody tr');
  await rows.filter({ hasText: counts }).waitFor();
  assert.equal(await rows.count(), 2);
  await page.getByLabel('Status').selectOption('with failed items');
  await page.waitForURL(/failedItems/);
  await rows.filter({ hasText: 'success' }).nth(1).waitFor({ state: 'detached' });
  await check({ inDarkMode: true });
  await rows.getByRole('link').click();
  await page.waitForURL(new RegExp(workflowRunId));
  // Read out by a screen reader when the run ends.
  await page.getByRole('status').filter({ hasText: counts }).waitFor();
  await page.getByRole('button', { name: /^each/ }).filter({ hasText: counts }).waitFor();
  const steps = page.getByRole('table', { name: 'Timeline of the steps' });
  await steps.getByText(counts).waitFor();
  // In amber: the head, the node and the step.
  assert.equal(await page.locator('.warn-note').filter({ hasText: counts }).count(), 3);
  const badges = page.locator('[data-tone="warn"]').filter({ hasText: /^success$/ });
  assert.equal(await badges.count(), 3);
  const items = page.getByRole('table', { name: 'Started items' }).locator('tbody tr');
  await items.nth(4).waitFor();
  await page.getByText('2 failed', { exact: true }).click();
  await items.nth(2).waitFor({ state: 'detached' });
  assert.equal(await items.filter({ hasText: 'PROVIDER_AUTH' }).count(), 2);
  await check({ inDarkMode: true });
});

test('failed items among many are listed by the server', async () => {
  const { workflowId, workflowRunId } = await runItems([
    ...Array.from({ length: 120 }, (_, n) => `good ${n}`),
    ...Array.from({ length: 60 }, (_, n) => `bad ${n}`),
  ]);
  const { page } = await visit(`/workflows/${workflowId}/runs/${workflowRunId}`, { as: 'viewer' });
  await page.getByText('60 failed', { exact: true }).click();
  await page.getByText('1–50 of 60').waitFor();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('51–60 of 60').waitFor();
  const items = page.getByRole('table', { name: 'Started items' }).locator('tbody tr');
  await items.filter({ hasText: '179' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Run failed items again' }).count(), 0);
});

test('the failed items run again, once however often it is pressed', async () => {
  const { workflowId, path, workflowRunId } = await runItems(list, ['each', 'other']);
  const { page, check } = await visit(`/workflows/${workflowId}/runs/${workflowRunId}`, {
    as: 'editor',
  });
  await page.getByRole('button', { name: 'Run failed items again' }).click();
  const dialog = page.getByRole('dialog', { name: 'Run failed items again' });
  await dialog.getByLabel('Step').selectOption('other');
  await check({ inDarkMode: true });
  await dialog.getByRole('button', { name: 'Run', exact: true }).dblclick();
  await page.getByText('Failed items of other in').waitFor();
  await page.getByText('2 of 2 items done').waitFor();
  await check({ inDarkMode: true });
  const { body } = await service.call('GET', `${path}/runs`, { key });
  assert.equal(body.pagination.total, 2);
  assert.deepEqual([body.runs[0].rerunOf, body.runs[0].rerunStep], [workflowRunId, 'other']);
  await page.getByRole('link', { name: 'the first run' }).click();
  await page.waitForURL(new RegExp(workflowRunId));
});
