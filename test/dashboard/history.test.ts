import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent, run } from '../../harness/agents.ts';
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
  await page.getByRole('button', { name: 'Remove filter variables.name Grace' }).click();
  await page.getByText('2 executions', { exact: true }).waitFor();
  await page.getByRole('combobox', { name: 'Status' }).selectOption('failed');
  await page.waitForURL(/status=failed/);
  await page.getByRole('heading', { name: 'No matches' }).waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).last().click();
  await page.getByRole('button', { name: 'More filters' }).click();
  await page.getByLabel('Variable name', { exact: true }).fill('name');
  await page.getByLabel('Variable value').fill('Ada');
  await page.getByLabel('Min latency (ms)').fill('1');
  await check();
  await page.getByLabel('Min latency (ms)').press('Enter');
  await page.waitForURL(/latencyMsMin=1&variables\.name=Ada|variables\.name=Ada&latencyMsMin=1/);
});

test('applying a filter keeps the exact time range', async () => {
  const range = 'startDate=2026-01-02T03%3A04%3A05.678Z';
  const { page } = await visit(`/history?${range}`, { as: 'viewer' });
  await page.getByRole('button', { name: 'More filters' }).click();
  // Not by a click: the form still moves while its lists of versions and keys are loading.
  await page.getByLabel('Min latency (ms)').fill('1');
  await page.getByLabel('Min latency (ms)').press('Enter');
  await page.waitForURL(/latencyMsMin=1/);
  assert.equal(new URL(page.url()).searchParams.get('startDate'), '2026-01-02T03:04:05.678Z');
});

test('keeps typed text while the list updates, and combines concurrent filter changes', async () => {
  const { page } = await visit('/history', { as: 'viewer' });
  const field = page.getByLabel('Search outputs and variables');
  await field.pressSequentially('the tides of the northern seas', { delay: 45 });
  assert.equal(await field.inputValue(), 'the tides of the northern seas');
  await page.getByRole('combobox', { name: 'Status' }).selectOption('failed');
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
  const records = Array.from({ length: 60 }, (_, place) => ({
    ...{ workspaceId, agentId: agent.id, atMs: Date.now() - dayMs - place * 1_000 },
  }));
  await addRecords(service.db, records);
  const { page, check } = await visit(`/agents/${agent.agentId}/history`, { as: 'viewer' });
  await page.getByText('Page 1 of 3').waitFor();
  await page.getByRole('button', { name: 'Last' }).click();
  await page.waitForURL(/offset=50/);
  await page.getByText('51–60 of 60').waitFor();
  await check();
  await page.getByRole('button', { name: 'Previous' }).click();
  await page.getByText('26–50 of 60').waitFor();
});

test('updates an execution in progress until it ends', async () => {
  const agent = await addAgent(service);
  const heldCall = service.models.hold();
  const body = { variables: { name: 'you' } };
  await service.call('POST', `${agent.path}/execute`, { key, body });
  await heldCall.arrived;
  const { page } = await visit(`/agents/${agent.agentId}/history`, { as: 'viewer' });
  await page.getByRole('cell', { name: 'processing' }).waitFor();
  heldCall.release();
  await page.getByRole('cell', { name: 'success' }).waitFor();
});

test('remembers the chosen columns', async () => {
  const agent = await addAgent(service);
  await run(service, agent, key);
  const { page, check } = await visit(`/agents/${agent.agentId}/history`, { as: 'viewer' });
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('checkbox', { name: 'Model' }).check();
  await check();
  await page.reload();
  await page.getByRole('columnheader', { name: 'Model' }).waitFor();
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
  await page.getByRole('button', { name: 'Search older executions' }).click();
  await page.waitForURL(/cursor=exe_next/);
  await page.getByText('1 execution matches').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Search older executions' }).count(), 0);
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
});
