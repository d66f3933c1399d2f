import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { addAgent, ended, run } from '../../harness/agents.ts';
import { addRecords, dayMs } from '../../harness/records.ts';
import { ModelFailure } from '../../src/core/model/model-port.ts';
import { loaded, openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();
const { key } = await service.key();

test('the empty list explains executions', async () => {
  const agent = await addAgent(service);
  const { page, check } = await visit(`/agents/${agent.agentId}/history`, { as: 'viewer' });
  await page.getByRole('heading', { name: 'No executions yet' }).waitFor();
  await check();
});

test('keeps filters in the URL', async () => {
  const agent = await addAgent(service);
  await run(service, agent, key, { name: 'Ada' });
  await run(service, agent, key, { name: 'Grace' });
  const { page, check } = await visit('/history?variables.name=Grace', { as: 'viewer' });
  await page.getByText('1 execution match').waitFor();
  await check();
  await page.getByRole('button', { name: 'Remove filter Variable name Grace' }).click();
  await page.getByText('2 executions', { exact: true }).waitFor();
  await choose(page, 'Status', ['failed', 'canceled']);
  await page.waitForURL(/status=failed%2Ccanceled/);
  await page.getByRole('heading', { name: 'No matches' }).waitFor();
  await page.getByRole('button', { name: 'Status failed or canceled' }).first().click();
  await page.getByRole('checkbox', { name: 'canceled' }).uncheck();
  await page.waitForURL(/status=failed$/);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Clear filters' }).last().click();
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByRole('button', { name: 'Variable', exact: true }).click();
  await page.getByLabel('Variable name', { exact: true }).fill('name');
  await page.getByLabel('Variable value').fill('Ada');
  await check();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL(/variables\.name=Ada/);
  await page.getByText('1 execution match').waitFor();
});

test('combines users whose names contain commas', async () => {
  const agent = await addAgent(service);
  for (const user of ['Doe, Ada', 'bob\\', 'Doe']) {
    const body = { variables: { name: 'x' }, user };
    const { statusUrl } = (await service.call('POST', `${agent.path}/execute`, { key, body })).body;
    await ended(service, statusUrl, key);
  }
  const path = `/agents/${agent.agentId}/history`;
  const { page, check } = await visit(path, { as: 'viewer' });
  await choose(page, 'User', ['Doe, Ada', 'bob\\']);
  await page.getByText('2 executions match').waitFor();
  await page.getByRole('button', { name: 'User Doe, Ada or bob\\' }).first().waitFor();
  await check();
  // The URL alone says the same.
  await page.reload();
  await page.getByText('2 executions match').waitFor();
  await page.locator('[data-execution]').first().click();
  const panel = page.getByRole('complementary', { name: 'Execution' });
  const link = panel.getByRole('link', { name: 'bob\\' });
  await link.click();
  await page.waitForURL(/\/user\?user=/);
  await page.getByRole('heading', { name: 'User bob\\' }).waitFor();
});

test('a version that is named in the URL is shown by its label, whatever the time range', async () => {
  const agent = await addAgent(service);
  const search = `promptVersionId=${agent.promptVersionId}&period=yesterday`;
  const { page } = await visit(`/history?${search}`, { as: 'viewer' });
  await page.getByRole('button', { name: 'Version v1' }).first().click();
  await page.getByRole('checkbox', { name: 'v1' }).waitFor();
});

/** Chooses values of a filter. */
async function choose(page: Page, filter: string, values: readonly string[]): Promise<void> {
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByRole('button', { name: filter, exact: true }).click();
  for (const name of values) await page.getByRole('checkbox', { name }).check();
  await page.keyboard.press('Escape');
}

test('applying a filter by a click keeps the exact time range', async () => {
  const range = 'startDate=2026-01-02T03%3A04%3A05.678Z';
  const { page } = await visit(`/history?${range}`, { as: 'viewer' });
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Filter' });
  await dialog.getByRole('button', { name: 'Latency', exact: true }).click();
  await page.getByLabel('Min latency (ms)').fill('1');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL(/latencyMsMin=1/);
  assert.equal(new URL(page.url()).searchParams.get('startDate'), '2026-01-02T03:04:05.678Z');
});

test('nothing that is in a URL makes the list fail', async () => {
  const queries = [
    'q=%00%22',
    'latencyMsMin=9&latencyMsMax=1&costUSDMin=2&costUSDMax=1',
    'startDate=2026-02-02&endDate=2026-01-01',
    'status=done,success&errorCode=NO_SUCH_CODE&agentId=nothing',
    `q=${'word '.repeat(80)}`,
    'period=never&startDate=yesterday&variables.a=%00',
  ];
  const { page } = await visit('/history', { as: 'viewer' });
  for (const query of queries) {
    await page.goto(`/history?${query}`);
    await page
      .getByText(/executions?( match(es)?)?$/)
      .first()
      .waitFor();
    assert.equal(await page.getByRole('alert').count(), 0, query);
  }
});

test('keeps typed text while the list updates, and combines concurrent filter changes', async () => {
  const { page } = await visit('/history', { as: 'viewer' });
  const field = page.getByLabel('Search outputs and variables');
  await field.pressSequentially('the tides of the northern seas', { delay: 45 });
  assert.equal(await field.inputValue(), 'the tides of the northern seas');
  await choose(page, 'Status', ['failed']);
  await page.waitForURL(/q=the.tides.of.the.northern.seas/);
  await page.waitForURL(/status=failed/);
  await field.fill('other');
  await page.getByRole('button', { name: 'Clear filters' }).last().click();
  await page.waitForURL((url) => url.search === '');
  await page.locator('input[data-search]:placeholder-shown').waitFor();
});

test('counts pages exactly and jumps to the first and last', async () => {
  const agent = await addAgent(service);
  const { workspaceId } = service;
  const records = Array.from({ length: 110 }, (_, place) => ({
    ...{ workspaceId, agentId: agent.id, atMs: Date.now() - dayMs - place * 1_000 },
  }));
  await addRecords(service.db, records);
  const { page, check } = await visit(`/agents/${agent.agentId}/history`, { as: 'viewer' });
  await page.getByText('Page 1 of 3').waitFor();
  await page.getByRole('button', { name: 'Last' }).click();
  await page.waitForURL(/offset=100/);
  await page.getByText('101–110 of 110').waitFor();
  await check();
  await page.getByRole('button', { name: 'Previous' }).click();
  await page.getByText('51–100 of 110').waitFor();
});

test('updates an execution in progress until it ends', async () => {
  const agent = await addAgent(service, { config: { maxConcurrency: 1 } });
  const held = [service.models.hold(), service.models.hold()];
  const body = { variables: { name: 'you' } };
  for (const _ of held) await service.call('POST', `${agent.path}/execute`, { key, body });
  await held[0]?.arrived;
  const { page, check } = await visit(`/agents/${agent.agentId}/history`, { as: 'viewer' });
  await page.getByRole('cell', { name: 'processing' }).waitFor();
  // The other one waits for the slot.
  await page.getByRole('cell', { name: 'queued' }).waitFor();
  await check();
  held[0]?.release();
  await held[1]?.arrived;
  await page.getByRole('cell', { name: 'queued' }).waitFor({ state: 'detached' });
  held[1]?.release();
  await page.getByRole('cell', { name: 'processing' }).waitFor({ state: 'detached' });
  assert.equal(await page.getByRole('cell', { name: 'success' }).count(), 2);
});

test('remembers the chosen columns', async () => {
  const agent = await addAgent(service);
  await run(service, agent, key);
  const { page, check } = await visit(`/agents/${agent.agentId}/history`, { as: 'viewer' });
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('checkbox', { name: 'Attempts' }).check();
  await check();
  await page.reload();
  await page.getByRole('columnheader', { name: 'Attempts' }).waitFor();
});

test('requests bodies only for visible columns', async () => {
  const agent = await addAgent(service);
  await run(service, agent, key, { name: 'Ada' });
  const path = `/agents/${agent.agentId}/history`;
  const { page } = await visit(path, { as: 'viewer' });
  const requested = new Set<string | null>();
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname.endsWith('/executions')) requested.add(searchParams.get('omit'));
  });
  await page.reload();
  await loaded(page);
  assert.deepEqual([...requested], ['bodies']);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('checkbox', { name: 'Output' }).check();
  await page.getByRole('cell', { name: 'Hello Ada' }).waitFor();
  assert.deepEqual([...requested], ['bodies', null]);
});

test('says how far a long search went, and continues it', async () => {
  const agent = await addAgent(service);
  await run(service, agent, key, { name: 'tides' });
  const path = `/agents/${agent.agentId}/history`;
  const { page, check } = await visit(`${path}?q=tides`, { as: 'viewer', intercepts: true });
  await page.getByRole('row').nth(1).waitFor();
  const short = {
    executions: [],
    pagination: { limit: 25, offset: 0, total: 0, hasMore: true },
    ...{ totalIsLowerBound: true, nextCursor: 'exe_next', searchedTo: '2026-11-21T09:30:00.000Z' },
  };
  // The server's clock decides what a long search is, so the first page comes from the test.
  await page.route('**/executions?*cursor=exe_next*', (route) =>
    route.continue({
      url: route
        .request()
        .url()
        .replace(/cursor=exe_next/, 'offset=0'),
    }),
  );
  await page.route('**/executions?*offset=0*', (route) => route.fulfill({ json: short }));
  await page.reload();
  await page.getByText('At least 0 executions match').waitFor();
  await page.getByText(/^Searched back to/).waitFor();
  await check();
  await page.getByRole('button', { name: 'Search further' }).click();
  await page.getByText('1 execution matches').waitFor();
  await page.getByText('Searched everything.').waitFor();
  await page.getByRole('row').locator('mark', { hasText: 'tides' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Search further' }).count(), 0);
});

test('suggests a remedy for a failed execution', async () => {
  const agent = await addAgent(service, { config: { maxAttempts: 1 } });
  service.models.script(new ModelFailure('PROVIDER_AUTH', 'The key was refused.'));
  const { executionId } = await run(service, agent, key);
  const { page, check } = await visit(`/history/${agent.agentId}/${executionId}`, { as: 'viewer' });
  await page.getByText('An owner can replace it under Settings').waitFor();
  await check();
});

test('exports with the same filters', async () => {
  const agent = await addAgent(service);
  await run(service, agent, key, { name: 'Ada' });
  await run(service, agent, key, { name: 'Grace' });
  const path = `/agents/${agent.agentId}/history?variables.name=Ada`;
  const { page } = await visit(path, { as: 'viewer' });
  await page.getByRole('button', { name: 'Export' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'CSV' }).click(),
  ]);
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  const lines = Buffer.concat(chunks).toString().trim().split('\r\n');
  assert.equal(lines.length, 2);
  assert.match(lines[1] ?? '', /Ada/);
  const name = /^executions-agt_\w+_variables\.name-Ada_\d{8}\.csv$/;
  assert.match(download.suggestedFilename(), name);
});
