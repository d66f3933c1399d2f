import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent, run } from '../../harness/agents.ts';
import { addRecords, dayMs } from '../../harness/records.ts';
import { ModelFailure } from '../../src/core/model/model-port.ts';
import { loaded, openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();
const { key } = await service.key();

test('an agent without runs says what will stand there', async () => {
  const agent = await addAgent(service);
  const { page, check } = await visit(`/agents/${agent.agentId}/history`, { as: 'viewer' });
  await page.getByRole('heading', { name: 'No runs yet' }).waitFor();
  await check();
});

test('filters stand in the address, and narrow the history of all agents', async () => {
  const agent = await addAgent(service);
  await run(service, agent, key, { name: 'Ada' });
  await run(service, agent, key, { name: 'Grace' });
  const { page, check } = await visit('/history?variables.name=Grace', { as: 'viewer' });
  await page.getByText('1 run match').waitFor();
  await check();
  await page.getByRole('button', { name: 'Take off variables.name Grace' }).click();
  await page.getByText('2 runs', { exact: true }).waitFor();
  await page.getByRole('combobox', { name: 'Status' }).selectOption('failed');
  await page.waitForURL(/status=failed/);
  await page.getByRole('heading', { name: 'No run matches' }).waitFor();
  await page.getByRole('button', { name: 'Take the filters off' }).click();
  await page.getByRole('button', { name: 'More filters' }).click();
  await page.getByLabel('Variable', { exact: true }).fill('name');
  await page.getByLabel('is', { exact: true }).fill('Ada');
  await page.getByLabel('Latency at least, ms').fill('1');
  await check();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL(/latencyMsMin=1&variables\.name=Ada|variables\.name=Ada&latencyMsMin=1/);
});

test('a filter that is applied leaves the others as they are, the range to the millisecond', async () => {
  const range = 'startDate=2026-01-02T03%3A04%3A05.678Z';
  const { page } = await visit(`/history?${range}`, { as: 'viewer' });
  await page.getByRole('button', { name: 'More filters' }).click();
  await page.getByLabel('Latency at least, ms').fill('1');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL(/latencyMsMin=1/);
  assert.equal(new URL(page.url()).searchParams.get('startDate'), '2026-01-02T03:04:05.678Z');
});

test('what is typed while the list follows stays, and two changes at once both hold', async () => {
  const { page } = await visit('/history', { as: 'viewer' });
  const field = page.getByLabel('Search outputs and variables');
  await field.pressSequentially('the tides of the northern seas', { delay: 45 });
  assert.equal(await field.inputValue(), 'the tides of the northern seas');
  await page.getByRole('combobox', { name: 'Status' }).selectOption('failed');
  await page.waitForURL(/q=the.tides.of.the.northern.seas/);
  await page.waitForURL(/status=failed/);
  await field.fill('other');
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.waitForURL((url) => url.search === '');
  await page.locator('input[data-search]:placeholder-shown').waitFor();
});

test('pages are counted exactly, and lead to both ends', async () => {
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

test('what runs is seen to end without a hand', async () => {
  const agent = await addAgent(service);
  const held = service.models.hold();
  const body = { variables: { name: 'you' } };
  await service.call('POST', `${agent.path}/execute`, { key, body });
  await held.arrived;
  const { page } = await visit(`/agents/${agent.agentId}/history`, { as: 'viewer' });
  await page.getByRole('cell', { name: 'processing' }).waitFor();
  held.release();
  await page.getByRole('cell', { name: 'success' }).waitFor();
});

test('columns are chosen, and stay chosen', async () => {
  const agent = await addAgent(service);
  await run(service, agent, key);
  const { page, check } = await visit(`/agents/${agent.agentId}/history`, { as: 'viewer' });
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('checkbox', { name: 'Model' }).check();
  await check();
  await page.reload();
  await page.getByRole('columnheader', { name: 'Model' }).waitFor();
});

test('inputs and outputs are asked for only where they are shown', async () => {
  const agent = await addAgent(service);
  await run(service, agent, key, { name: 'Ada' });
  const path = `/agents/${agent.agentId}/history`;
  const { page } = await visit(path, { as: 'viewer' });
  const asked = new Set<string | null>();
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname.endsWith('/executions')) asked.add(searchParams.get('omit'));
  });
  await page.reload();
  await loaded(page);
  assert.deepEqual([...asked], ['bodies']);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('checkbox', { name: 'Output' }).check();
  await page.getByRole('cell', { name: 'Hello Ada' }).waitFor();
  assert.deepEqual([...asked], ['bodies', null]);
});

test('too many records to read shows the words of the server, and a way to fewer', async () => {
  const { page, check } = await visit('/welcome', { as: 'owner', intercepts: true });
  const problem = {
    error: 'Bad request',
    message: 'More than 100,000 records.',
    code: 'INVALID_REQUEST',
  };
  await page.route('**/api/v1/executions?*q=*', (route) =>
    route.fulfill({ status: 400, json: { ...problem, requestId: 'req_of_the_test' } }),
  );
  await page.getByRole('link', { name: 'History' }).click();
  await page.getByLabel('Search outputs and variables').fill('tides');
  const alert = page.getByRole('alert');
  await alert.getByText('More than 100,000 records.').waitFor();
  assert.match(await alert.innerText(), /req_of_the_test/);
  await check();
  await page.getByRole('button', { name: 'Only the last 7 days' }).click();
  await page.waitForURL(/startDate=/);
});

test('a failed run says what to do', async () => {
  const agent = await addAgent(service, { config: { maxAttempts: 1 } });
  service.models.script(new ModelFailure('PROVIDER_AUTH', 'The key was refused.'));
  const { executionId } = await run(service, agent, key);
  const { page, check } = await visit(`/history/${agent.agentId}/${executionId}`, { as: 'viewer' });
  await page.getByText('Save a valid one in the settings').waitFor();
  await check();
});

test('the export is a download of the same filters', async () => {
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
