import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { addAgent, ended, run, type TestAgent } from '../../harness/agents.ts';
import { addEndpoint } from '../../harness/endpoints.ts';
import { startReceiver, toReceivers } from '../../harness/receiver.ts';
import { addRecords, dayMs } from '../../harness/records.ts';
import { toId } from '../../src/core/id.ts';
import { ModelFailure } from '../../src/core/model/model-port.ts';
import { countClicks } from './count-clicks.ts';
import { loaded, openDashboard } from './harness.ts';

/** What people do with executions, from the list to the page of one. */

const { service, visit } = await openDashboard({ config: toReceivers });
const { key } = await service.key();

const panelOf = (page: Page) => page.getByRole('complementary', { name: 'Execution' });
const rowOf = (page: Page, executionId: string) =>
  page.getByRole('row').filter({ has: page.locator(`[data-execution="${executionId}"]`) });

async function start(agent: TestAgent, name: string) {
  const body = { variables: { name } };
  return (await service.call('POST', `${agent.path}/execute`, { key, body })).body;
}

async function fail(agent: TestAgent, failure: ModelFailure) {
  service.models.script(failure);
  return run(service, agent, key, { name: 'Ada' });
}

test("finds yesterday's failures with a code and runs one again, in 4 clicks", async () => {
  const agent = await addAgent(service);
  const { workspaceId } = service;
  const noonYesterday = new Date(Date.now() - dayMs);
  noonYesterday.setHours(12, 0, 0, 0);
  const atMs = noonYesterday.getTime();
  const variables = '{"name":"Ada"}';
  const one = { workspaceId, agentId: agent.id, variables };
  const [failedId = ''] = await addRecords(service.db, [
    { ...one, atMs, status: 'failed' },
    { ...one, atMs: atMs + 1_000 },
    { ...one, atMs: atMs - 2 * dayMs, status: 'failed' },
  ]);
  const { page, check } = await visit('/', { as: 'editor' });
  const clicks = await countClicks(page);
  await page.getByRole('group', { name: 'Time range' }).getByText('Yesterday').click();
  await page.getByTitle('List executions with CANCELED').click();
  const executionId = toId('execution', failedId);
  await rowOf(page, executionId).waitFor();
  await page.getByText('1 execution matches').waitFor();
  await check();
  await page.keyboard.press('j');
  await page.keyboard.press('r');
  const dialog = page.getByRole('dialog', { name: /again/ });
  await dialog.getByRole('button', { name: 'Run', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await clicks(), 3);
  const list = `${agent.path}/executions?rerunOf=${executionId}&include=processing`;
  const { body } = await service.call('GET', list, { key });
  assert.equal(body.pagination.total, 1);
  // The same from the list alone.
  await page.goto('/agents');
  await page.getByRole('table').waitFor();
  const more = await countClicks(page);
  await page.getByRole('link', { name: 'Executions' }).first().click();
  await page.getByRole('button', { name: /^Time/ }).click();
  await page.getByRole('button', { name: 'Yesterday' }).click();
  await page.getByRole('button', { name: /^CANCELED/ }).click();
  await rowOf(page, executionId).waitFor();
  await page.getByText('1 execution matches').waitFor();
  assert.equal(await more(), 4);
});

test('what is typed before the dialog of a key is there arrives in its field', async () => {
  const agent = await addAgent(service);
  await run(service, agent, key, { name: 'Ada' });
  const { page, check } = await visit(`/agents/${agent.agentId}/history`, {
    ...{ as: 'editor', intercepts: true },
  });
  const row = page.locator('[data-execution]');
  await row.waitFor();
  const held = Promise.withResolvers<void>();
  await page.route('**/assets/run-again-*.js', async (route) => {
    await held.promise;
    await route.continue();
  });
  await row.focus();
  // On the page, x would select the row and Enter open it.
  await page.keyboard.type('rx');
  await page.keyboard.press('Enter');
  held.resolve();
  const field = page.getByRole('dialog').getByLabel('Variables');
  await field.and(page.locator(':focus')).waitFor();
  assert.equal((await field.inputValue()).replace('x', ''), '{\n  "name": "Ada"\n}');
  assert.equal(await panelOf(page).count(), 0);
  await page.getByText('1 selected').waitFor({ state: 'detached' });
  await check();
});

test('announces new executions without moving the rows, until asked', async () => {
  const agent = await addAgent(service);
  const first = await run(service, agent, key, { name: 'one' });
  const { page, check } = await visit(`/agents/${agent.agentId}/history`, { as: 'viewer' });
  await rowOf(page, first.executionId).waitFor();
  const second = await run(service, agent, key, { name: 'two' });
  const pill = page.getByRole('button', { name: '1 new' });
  await pill.waitFor();
  await check();
  assert.equal(await page.locator('[data-execution]').count(), 1);
  await pill.click();
  await rowOf(page, second.executionId).waitFor();
  await pill.waitFor({ state: 'detached' });
  const shown = await page
    .locator('[data-execution]')
    .evaluateAll((links) => links.map((link) => link.getAttribute('data-execution')));
  assert.deepEqual(shown, [second.executionId, first.executionId]);
});

test('watches running executions and cancels them, in 4 clicks', async () => {
  const agent = await addAgent(service);
  const held = [service.models.hold(), service.models.hold()];
  const accepted = [await start(agent, 'one'), await start(agent, 'two')];
  for (const call of held) await call.arrived;
  const { page, check } = await visit('/', { as: 'editor' });
  const clicks = await countClicks(page);
  await page.getByTitle('List running executions').click();
  const [one, two] = accepted.map(({ executionId }) => rowOf(page, executionId));
  await one?.getByText('processing').waitFor();
  await one?.getByText(/^\d+ s$/).waitFor();
  await page.getByRole('checkbox', { name: 'Select all rows' }).click();
  await page.getByText('2 selected').waitFor();
  await check();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Cancel 2 executions?' });
  await check();
  await dialog.getByRole('button', { name: 'Cancel', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await clicks(), 4);
  await one?.getByText('canceled', { exact: true }).waitFor();
  await two?.getByText('canceled', { exact: true }).waitFor();
});

test('lists what a bulk action could not cancel or delete, and keeps it selected', async () => {
  const agent = await addAgent(service);
  const held = [service.models.hold(), service.models.hold()];
  const accepted = [await start(agent, 'one'), await start(agent, 'two')];
  for (const call of held) await call.arrived;
  const refused: string = accepted[0].executionId;
  const path = `/agents/${agent.agentId}/history`;
  const { page, check } = await visit(path, { as: 'editor', intercepts: true });
  const json = { message: 'Not this one.', code: 'INTERNAL_ERROR' };
  await page.route(new RegExp(`/executions/${refused}(/cancel)?$`), (route) =>
    route.request().method() === 'GET' ? route.continue() : route.fulfill({ status: 500, json }),
  );
  const dialog = page.getByRole('dialog');
  const failures = dialog.getByRole('alert');
  const close = dialog.getByRole('button', { name: 'Close' }).last();
  await page.getByRole('checkbox', { name: 'Select all rows' }).click();
  await page.getByText('2 selected').waitFor();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await dialog.getByRole('button', { name: 'Cancel', exact: true }).click();
  await failures.getByText('1 of 2 failed').waitFor();
  await failures.getByRole('listitem').getByText(`${refused} Not this one.`).waitFor();
  assert.equal(await dialog.getByRole('button', { name: 'Cancel', exact: true }).count(), 0);
  await check({ inDarkMode: true });
  await close.click();
  await page.getByText('1 selected').waitFor();
  assert.ok(await rowOf(page, refused).getByRole('checkbox').isChecked());
  for (const call of held) call.release();
  await rowOf(page, refused).getByText('success').waitFor();
  await page.getByRole('checkbox', { name: 'Select all rows' }).click();
  await page.getByText('2 selected').waitFor();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('dialog', { name: 'Delete 2 executions?' }).waitFor();
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await failures.getByText('1 of 2 failed').waitFor();
  await page.getByRole('dialog', { name: 'Delete 2 executions', exact: true }).waitFor();
  assert.equal(await dialog.getByRole('button', { name: 'Delete', exact: true }).count(), 0);
  await close.click();
  await page.getByText('1 selected').waitFor();
  assert.equal(await page.locator('[data-execution]').count(), 1);
});

test('keys move, open, copy, select and close', async () => {
  const agent = await addAgent(service);
  const older = await run(service, agent, key, { name: 'older' });
  const newer = await run(service, agent, key, { name: 'newer' });
  const path = `/agents/${agent.agentId}/history`;
  const { page, announced } = await visit(path, {
    as: 'editor',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await rowOf(page, newer.executionId).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const panel = panelOf(page);
  await panel.getByText('Hello newer').first().waitFor();
  await page.keyboard.press('j');
  await panel.getByText('Hello older').first().waitFor();
  await page.keyboard.press('k');
  await panel.getByText('Hello newer').first().waitFor();
  // The list beside it stays usable.
  await page.keyboard.press('x');
  await page.getByText('1 selected').waitFor();
  await page.keyboard.press('c');
  await announced('Link copied');
  const link = await page.evaluate<string>('navigator.clipboard.readText()');
  assert.ok(link.endsWith(`/history/${agent.agentId}/${newer.executionId}`), link);
  await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined });
    document.execCommand = () => false;`);
  await page.keyboard.press('c');
  await announced('Copy failed');
  await page.locator(`[data-execution="${older.executionId}"]`).click();
  await panel.getByText('Hello older').first().waitFor();
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  await page.keyboard.press('o');
  await page.waitForURL(`**/history/${agent.agentId}/${older.executionId}`);
});

test('shows why an execution failed in its row, and the whole text on focus', async () => {
  const agent = await addAgent(service, { config: { maxAttempts: 1 } });
  const text = `The key was refused. ${'It must be replaced. '.repeat(20)}`;
  const { executionId, error } = await fail(agent, new ModelFailure('PROVIDER_AUTH', text));
  const { page, check } = await visit(`/agents/${agent.agentId}/history`, { as: 'viewer' });
  const row = rowOf(page, executionId);
  await row.getByText('PROVIDER_AUTH').waitFor();
  await page.keyboard.press('j');
  const whole = page.getByRole('tooltip').getByText(`PROVIDER_AUTH: ${error}`.trim());
  await whole.waitFor();
  await check();
  await page.keyboard.press('Enter');
  await panelOf(page).getByText('PROVIDER_AUTH').first().waitFor();
  await whole.waitFor({ state: 'detached' });
});

test('saves a view as a URL, opens it, and deletes it', async () => {
  const { page, check } = await visit('/history?status=failed,canceled&period=7d', {
    as: 'viewer',
  });
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Save this view…' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Last failures');
  await check();
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'View: Last failures' }).waitFor();
  await page.goto('/history');
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Last failures' }).click();
  await page.waitForURL(/status=failed%2Ccanceled/);
  await page.getByRole('button', { name: 'Time: Last 7 days' }).waitFor();
  await page.getByRole('button', { name: 'View: Last failures' }).click();
  await page.getByRole('menuitem', { name: 'Manage views…' }).click();
  await check();
  await page.getByRole('button', { name: 'Delete Last failures' }).click();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Views', exact: true }).waitFor();
});

test('views and values of filters that could not be loaded are not shown as none', async () => {
  const { page } = await visit('/history?status=failed', { as: 'viewer', intercepts: true });
  const json = { message: 'Out of order.', code: 'INTERNAL_ERROR' };
  await page.route(/\/api\/v1\/(me\/views|statistics)/, (route) =>
    route.fulfill({ status: 500, json }),
  );
  await page.reload();
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByText('Could not load the views').waitFor();
  assert.ok(await page.getByRole('menuitem', { name: 'Save this view…' }).isDisabled());
  await page.unroute(/\/api\/v1\/(me\/views|statistics)/);
  await page.getByRole('menuitem', { name: 'Try again' }).click();
  await page.getByText('No saved views yet').waitFor();
  await page.keyboard.press('Escape');
  await page.route('**/api/v1/statistics?*', (route) => route.fulfill({ status: 500, json }));
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByRole('button', { name: 'User', exact: true }).click();
  await page.getByRole('alert').getByText('Out of order.').waitFor();
  assert.equal(await page.getByText('No matches', { exact: true }).count(), 0);
});

test('runs selected executions again, shows the lineage and compares', async () => {
  const agent = await addAgent(service, { config: { maxAttempts: 1 } });
  const original = await fail(agent, new ModelFailure('CONTENT_FILTERED', 'Blocked.'));
  const { page, check } = await visit(`/agents/${agent.agentId}/history`, { as: 'editor' });
  await rowOf(page, original.executionId).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Run again' }).click();
  const dialog = page.getByRole('dialog', { name: 'Run again 1 execution?' });
  await dialog.getByRole('button', { name: 'Run again' }).click();
  await page.getByRole('button', { name: '1 new' }).click();
  await page.locator('[data-execution]').nth(1).waitFor();
  const path = `${agent.path}/executions?rerunOf=${original.executionId}`;
  const list = await service.call('GET', `${path}&include=processing`, { key });
  const { executionId } = list.body.executions[0];
  await ended(service, `${agent.path}/executions/${executionId}`, key);
  await page.goto(`/history/${agent.agentId}/${executionId}`);
  const lineage = page.getByRole('region', { name: 'Run again' });
  await lineage.getByRole('link').click();
  await page.waitForURL(`**/${original.executionId}`);
  await lineage.getByText('Run again as').waitFor();
  await check();
  await page.getByRole('button', { name: 'Compare with…' }).click();
  const recent = page.getByRole('list', { name: 'Recent executions' }).getByRole('button').first();
  await recent.waitFor();
  await check();
  await recent.click();
  await page.waitForURL(/history\/compare/);
  await page.getByRole('cell', { name: 'CONTENT_FILTERED' }).waitFor();
  const latencies = page.getByRole('row', { name: /^Latency/ }).getByRole('cell');
  assert.match(await latencies.last().innerText(), /^(none|[+−][\d.]+ (ms|s))$/);
  const output = page.getByRole('region', { name: 'Output' });
  await output.getByText('execution has none.').waitFor();
  await page.getByText('No difference.').first().waitFor();
  await check();
});

test('reads an answer of a megabyte: shown, searched, marked and downloaded in 2 clicks', async () => {
  const line = 'The tide comes in and goes out again, twice a day. ';
  const lines = (count: number) => `${line.repeat(4)}\n`.repeat(count);
  // A search covers the first 200,000 characters.
  const text = `${lines(500)}A heron stands there.\n${lines(4_500)}The end.`;
  assert.ok(text.length > 1_000_000);
  service.models.script({ text });
  const agent = await addAgent(service);
  const { executionId } = await run(service, agent, key);
  const { page, check } = await visit('/', { as: 'viewer' });
  const clicks = await countClicks(page);
  await page.getByRole('link', { name: 'Executions', exact: true }).first().click();
  await page.getByLabel('Search outputs and variables').fill('heron');
  await rowOf(page, executionId).locator('mark', { hasText: 'heron' }).waitFor();
  await page.locator(`[data-execution="${executionId}"]`).focus();
  await page.keyboard.press('o');
  await page.waitForURL(/exe_\w+\?q=heron/);
  const output = page.getByRole('region', { name: 'Output as text' });
  await page.getByText(`${text.length.toLocaleString('en-US')} characters`).waitFor();
  const mark = output.locator('mark');
  assert.equal(await mark.textContent(), 'heron');
  // Parts out of view have no layout yet: the browser makes it on the way there.
  await mark.evaluate((element) => element.scrollIntoView({ block: 'center' }));
  await output.getByText('A heron stands there.').waitFor();
  await check();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ]);
  assert.equal(await clicks(), 2);
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  assert.equal(Buffer.concat(chunks).toString(), text);
});

test('shows the events that were sent for an execution', async () => {
  const receiver = await startReceiver();
  const endpoint = await addEndpoint(service, key, {
    ...{ url: receiver.url, eventTypes: ['execution.succeeded'], description: 'Shop' },
  });
  const agent = await addAgent(service);
  const { executionId } = await run(service, agent, key);
  const [request] = await receiver.received(1);
  await endpoint.delivered(String(request?.headers['webhook-id']));
  const { page, check } = await visit(`/history/${agent.agentId}/${executionId}`, { as: 'viewer' });
  const events = page.getByRole('region', { name: 'Events' });
  await events.getByText('execution.succeeded').waitFor();
  await events.getByText('Shop').waitFor();
  await events.getByText('delivered').waitFor();
  assert.equal(await events.getByRole('link').count(), 0);
  await check();
  const { page: owners } = await visit(`/history/${agent.agentId}/${executionId}`, { as: 'owner' });
  await owners.getByRole('region', { name: 'Events' }).getByRole('link', { name: 'Shop' }).click();
  await owners.waitForURL(`**/settings/endpoints/${endpoint.endpointId}`);
  await endpoint.call('DELETE').catch(() => {});
  await receiver.close();
});

test('opens the playground with the version and the variables', async () => {
  const agent = await addAgent(service);
  const { executionId } = await run(service, agent, key, { name: 'Grace' });
  const { page } = await visit(`/history/${agent.agentId}/${executionId}`, { as: 'editor' });
  await page.getByRole('button', { name: 'Open in playground' }).click();
  await page.waitForURL(new RegExp(`/playground\\?versions=${agent.promptVersionId}`));
  await loaded(page);
  assert.equal(await page.getByLabel('name', { exact: true }).first().inputValue(), 'Grace');
});
