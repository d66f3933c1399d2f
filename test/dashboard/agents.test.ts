import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import { addAgent, run } from '../../harness/agents.ts';
import { makeAgent, makePrompt } from '../../harness/prompts.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();

test('the empty list explains agents', async () => {
  const { page, check } = await visit('/agents', { as: 'owner' });
  await page.getByRole('heading', { name: 'No agents yet' }).waitFor();
  await check();
});

test('lists an agent with stage, version and 24-hour metrics', async () => {
  const { key } = await service.key();
  const agent = await addAgent(service);
  await run(service, agent, key);
  await run(service, agent, key);
  const { page, check } = await visit('/settings/account', { as: 'viewer' });
  const requested: (string | null)[] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname === '/api/v1/statistics') requested.push(searchParams.get('agentIds'));
  });
  await page.getByRole('link', { name: 'Agents', exact: true }).click();
  const row = page.getByRole('row').filter({ hasText: 'Agent' }).last();
  await row.getByText('100%').waitFor();
  assert.match(await row.innerText(), /Agent\s+Deployed\s+v1\s+2\s+100%\s+≈ [\d.]+ m?s\s+\$0\.00/);
  await row.getByRole('img', { name: '2 executions in the last 24 hours, 2 successful' }).waitFor();
  assert.deepEqual([...new Set(requested)], [agent.agentId]);
  await check();
  await row.getByRole('cell').last().click({ force: true });
  await page.waitForURL(`**/agents/${agent.agentId}`);
});

test('shows unknown costs as unknown, and partly known costs as a minimum', async () => {
  const { key } = await service.key();
  const [none, some] = await Promise.all([addAgent(service), addAgent(service)]);
  service.models.script(
    { cost: { usd: '0', known: false } },
    { cost: { usd: '0', known: false } },
    { cost: { usd: '0.14', known: true } },
  );
  await run(service, none, key);
  await run(service, some, key);
  await run(service, some, key);
  const { page, check } = await visit('/agents', { as: 'viewer' });
  for (const [{ agentId }, cost] of [
    [none, 'unknown'],
    [some, '≥ $0.14'],
  ] as const) {
    await page.goto('/agents');
    const row = page.getByRole('row').filter({ has: page.locator(`a[href$="${agentId}"]`) });
    await row.getByRole('cell', { name: cost, exact: true }).waitFor();
    await check();
    await page.goto(`/agents/${agentId}`);
    await page.getByRole('region', { name: 'Figures' }).getByText(cost).waitFor();
    await check();
  }
});

test('texts in other scripts have their own direction, shown and entered', async () => {
  const prompt = await makePrompt(service, { user: 'مرحبا {{name}}\nHello' });
  const agentName = 'خدمة العملاء';
  const { agentId } = await makeAgent(service, prompt, { agentName, visibility: 'public' });
  const { page } = await visit('/agents', { as: 'editor' });
  const direction = (of: Locator) =>
    of.evaluate((one) => one.ownerDocument.defaultView?.getComputedStyle(one).direction);
  const link = page.getByRole('link', { name: agentName });
  await link.waitFor();
  assert.equal(await direction(link), 'rtl');
  await page.goto(`/agents/${agentId}/settings`);
  const name = page.getByRole('textbox', { name: 'Name', exact: true });
  assert.equal(await direction(name), 'rtl');
  await name.fill('Customer support');
  assert.equal(await direction(name), 'ltr');
  assert.equal(await direction(page.getByRole('heading', { level: 1 })), 'rtl');
  await page.goto(`/prompts/${prompt.promptId}`);
  const lines = page.locator('.cm-line');
  await lines.filter({ hasText: 'Hello' }).waitFor();
  // Each line of the editor follows its own text.
  const bidi = await lines.first().evaluate((one) => {
    const style = one.ownerDocument.defaultView?.getComputedStyle(one);
    return style?.unicodeBidi;
  });
  assert.equal(bidi, 'plaintext');
});

test('keeps search and stage filter in the URL', async () => {
  const prompt = await makePrompt(service, { user: 'Hello' });
  await makeAgent(service, prompt, { agentName: 'Lighthouse', visibility: 'public' });
  const { page, check } = await visit('/agents', { as: 'editor' });
  await page.getByRole('link', { name: 'Lighthouse' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('lightH');
  await page.waitForURL(/\/agents\?q=lightH$/);
  await page.getByText('1–1 of 1').waitFor();
  await page.getByRole('combobox', { name: 'Stage' }).selectOption('Deployed');
  await page.waitForURL(/status=Deployed/);
  await page.getByRole('heading', { name: 'No matches' }).waitFor();
  await check();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByRole('link', { name: 'Lighthouse' }).waitFor();
});

test("shows the server's message if the list fails, and retries", async () => {
  const { page, check } = await visit('/prompts', { as: 'owner', intercepts: true });
  const problem = { error: 'Internal error', message: 'It broke.', code: 'INTERNAL' };
  await page.route('**/api/v1/agents?*', (route) =>
    route.fulfill({ status: 500, json: { ...problem, requestId: 'req_of_the_test' } }),
  );
  await page.getByRole('link', { name: 'Agents', exact: true }).click();
  const alert = page.getByRole('alert');
  await alert.waitFor();
  assert.match(await alert.innerText(), /It broke\..*req_of_the_test/s);
  await check();
  await page.unroute('**/api/v1/agents?*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('table').waitFor();
});

test('fits a narrow screen', async () => {
  const viewport = { width: 360, height: 740 };
  const { page, check } = await visit('/agents', { as: 'owner', viewport });
  await page.getByRole('table').waitFor();
  const width = await page.evaluate('document.documentElement.scrollWidth');
  assert.equal(width, 360);
  await page.getByRole('button', { name: 'Open menu' }).click();
  await page.getByRole('dialog').getByRole('link', { name: 'Agents' }).waitFor();
  await check();
});
