import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import { addAgent, run } from '../../harness/agents.ts';
import { addWindow, createBudget } from '../../harness/created-budgets.ts';
import { greeting, makeWorkflow } from '../../harness/created-workflows.ts';
import { makePrompt } from '../../harness/prompts.ts';
import { loaded, openDashboard } from './harness.ts';

/** What long texts do on narrow screens. */

const { service, visit } = await openDashboard();
const phone = { width: 390, height: 844 };

/** The width that the contents need, and the one that there is. */
const widths = (frame: Locator) => frame.evaluate((one) => [one.scrollWidth, one.clientWidth]);

test('a long email address does not hide the Revoke button on a phone', async () => {
  const email = `${'long'.repeat(15)}@${'example'.repeat(4)}.com`;
  const { ownerId: user } = service;
  await service.call('POST', '/api/v1/invitations', { user, body: { email, role: 'viewer' } });
  const { page, check } = await visit('/settings/members', { as: 'owner', viewport: phone });
  await page.getByText(email).waitFor();
  const [needed, there] = await widths(page.getByRole('region', { name: 'Open invitations' }));
  assert.equal(needed, there);
  await check();
});

test('audit log rows wrap no more than necessary on a phone', async () => {
  const agent = await addAgent(service);
  const body = { action: 'disable' };
  await service.call('POST', `${agent.path}/lifecycle`, { user: service.ownerId, body });
  for (const [width, linesMax] of [
    [390, 2],
    [1440, 1],
  ] as const) {
    const viewport = { width, height: 844 };
    const { page, check } = await visit('/settings/audit', { as: 'owner', viewport });
    const row = page.getByRole('row').filter({ hasText: agent.agentId });
    const lines = async (of: string) =>
      row.locator(of).evaluate((one) => {
        const range = one.ownerDocument.createRange();
        range.selectNodeContents(one.firstChild ?? one);
        return new Set([...range.getClientRects()].map(({ top }) => top)).size;
      });
    await row.waitFor();
    assert.equal(await lines('time'), 1);
    assert.ok((await lines('td:nth-child(2) code')) <= linesMax);
    await check();
  }
});

test('descriptions of pages have the whole width of a phone', async () => {
  const { page, check } = await visit('/agents', { as: 'owner', viewport: phone });
  for (const path of ['/agents', '/prompts', '/workflows', '/keys']) {
    await page.goto(path);
    await loaded(page);
    const share = await page.getByRole('heading', { level: 1 }).evaluate((heading) => {
      const header = heading.closest('header');
      const description = heading.parentElement?.nextElementSibling;
      return (description?.clientWidth ?? 0) / (header?.clientWidth ?? 0);
    });
    assert.equal(share, 1, path);
    await check({ inDarkMode: true });
  }
});

test('nothing of budgets and prices is cut off on a phone', async () => {
  const { key } = await service.key();
  const budget = await createBudget(service, key, { name: 'Each user of the shop', per: 'user' });
  await addWindow(service, budget.budgetId, { bucket: 'ana@customers.example', settled: 1.234567 });
  const model = 'openai/gpt-5.5-mini-2026-11-29';
  const price = { model, inputPerMillion: '1.25', outputPerMillion: '10.625' };
  await service.call('PUT', '/api/v1/prices', { key, body: price });
  const { page, check } = await visit('/settings/budgets', { as: 'owner', viewport: phone });
  await page.getByText('ana@customers.example').waitFor();
  const [needed, there] = await widths(page.getByRole('region', { name: 'Budgets' }));
  assert.equal(needed, there);
  await check({ inDarkMode: true });
  await page.goto('/settings/providers');
  const name = page.getByRole('cell', { name: model }).locator('code');
  await name.waitFor();
  assert.ok((await name.evaluate((one) => one.getClientRects().length)) <= 2);
  await page.getByText('$1.25 in, $10.625 out / M').waitFor();
  await check({ inDarkMode: true });
});

test('the most that a run may cost stands apart from what is above', async () => {
  const { agentId } = await addAgent(service);
  const { workflowId } = await makeWorkflow(service, greeting(agentId));
  const { promptId } = await makePrompt(service, { user: 'Hello' });
  const { page } = await visit(`/workflows/${workflowId}/run`, { as: 'owner', viewport: phone });
  const edges = async (above: Locator) => {
    const [box, label] = [
      await above.boundingBox(),
      await page.getByText('Max cost').boundingBox(),
    ];
    return [(box?.y ?? 0) + (box?.height ?? 0) + 8, label?.y ?? 0] as const;
  };
  const metadata = page.getByLabel('Metadata');
  await metadata.waitFor();
  const [start, startLabel] = await edges(metadata);
  assert.ok(start <= startLabel, `${start}, ${startLabel}`);
  await page.goto(`/prompts/${promptId}/playground`);
  const button = page.getByRole('button', { name: 'Run', exact: true });
  await button.waitFor();
  const [run, runLabel] = await edges(button);
  assert.ok(run <= runLabel, `${run}, ${runLabel}`);
});

test('a short output below the window takes no more place than its text', async () => {
  const agent = await addAgent(service);
  const { key } = await service.key();
  const { executionId } = await run(service, agent, key);
  const viewport = { width: 390, height: 200 };
  const path = `/history/${agent.agentId}/${executionId}`;
  const { page } = await visit(path, { as: 'owner', viewport });
  const output = page.getByRole('region', { name: 'Output as text' });
  await output.waitFor();
  const { height = 1_000 } = (await output.boundingBox()) ?? {};
  assert.ok(height < 100, `${height} px`);
});
