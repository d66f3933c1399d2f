import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { addAgent } from '../../harness/agents.ts';
import { batchWhen, jsonLines, namedLines, unlimited, upload } from '../../harness/batches.ts';
import { ModelFailure, noCost } from '../../src/core/model/model-port.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();
const { key } = await service.key({ rateLimits: unlimited });

/** Chooses a file of calls. */
function choose(page: Page, content: string): Promise<void> {
  return page
    .getByLabel('File of the batch')
    .setInputFiles({ name: 'lines.jsonl', mimeType: '', buffer: Buffer.from(content) });
}

test('an editor uploads a file, follows it, downloads its results and opens it from a record', async () => {
  const agent = await addAgent(service);
  const path = `/agents/${agent.agentId}/batches`;
  const { page, check } = await visit(path, { as: 'editor' });
  await page.getByText('No batches yet').waitFor();
  await check({ inDarkMode: true });
  const file = `${jsonLines(namedLines(3))}{}\n`;
  const dialog = page.getByRole('dialog');
  await choose(page, file);
  for (const text of ['lines.jsonl', '1, which do not run', 'Field "id" must be a string', 'v1']) {
    await dialog.getByText(text, { exact: text === 'v1' }).waitFor();
  }
  await dialog.getByText('unknown: no execution of v1 has a cost yet').waitFor();
  await check({ inDarkMode: true });
  // Nothing has been sent yet.
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  const { body: none } = await service.call('GET', `${agent.path}/batches`, { key });
  assert.equal(none.pagination.total, 0);
  await choose(page, file);
  await dialog.getByRole('button', { name: 'Run 3 lines' }).click();
  await page.getByText('3 of 4 succeeded').waitFor();
  await page.getByText('completed').filter({ visible: true }).waitFor();
  await page.getByText('lines.jsonl').waitFor();
  const { body: listed } = await service.call('GET', `${agent.path}/batches`, { key });
  assert.deepEqual(
    listed.batches.map(({ fileName }: { fileName: string }) => fileName),
    ['lines.jsonl'],
  );
  await check({ inDarkMode: true });
  await page.getByRole('button', { name: '1 invalid' }).click();
  await page.getByRole('dialog').getByText('Field "id" must be a string').waitFor();
  await check({ inDarkMode: true });
  await page.getByRole('button', { name: 'Close', exact: true }).last().click();
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Actions for bat_' }).click();
  await page.getByRole('menuitem', { name: 'Download results' }).click();
  const chunks: Buffer[] = [];
  const download = await downloading;
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  const results = Buffer.concat(chunks).toString();
  assert.deepEqual(
    results
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).status),
    ['success', 'success', 'success', 'refused'],
  );
  const { executionId } = JSON.parse(results.split('\n')[0] ?? '');
  await page.goto(`${service.url}/agents/${agent.agentId}/history/${executionId}`);
  await page.getByRole('link', { name: /^bat_/ }).click();
  await page.getByText('3 of 4 succeeded').waitFor();
});

test('a file that cannot run says why, and the cost of others is that of the last executions', async () => {
  const agent = await addAgent(service);
  const { page } = await visit(`/agents/${agent.agentId}/batches`, { as: 'editor' });
  const dialog = page.getByRole('dialog');
  await page.getByText('No batches yet').waitFor();
  for (const [content, text] of [
    ['\n \n', 'The file contains no line.'],
    ['{}\n'.repeat(50_001), 'The file has more than 50,000 lines.'],
    ['{}\n', 'Field "id" must be a string'],
  ] as const) {
    await choose(page, content);
    await dialog.getByText(text).waitFor();
    assert.equal(await dialog.getByRole('button', { name: /^Run/ }).isDisabled(), true);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  }
  for (const usd of ['0.02', '0.04']) {
    service.models.script({ cost: { ...noCost, usd } });
    const body = { variables: { name: 'x' } };
    const { body: started } = await service.call('POST', `${agent.path}/execute`, { key, body });
    await service.call('GET', `${started.statusUrl}?wait=60`, { key });
  }
  await choose(page, jsonLines(namedLines(10)));
  await dialog
    .getByText('about $0.30: $0.03 each, the average of the last 2 executions of v1')
    .waitFor();
});

test('failed lines run again as a new batch', async () => {
  const agent = await addAgent(service);
  service.models.script(...[1, 2].map(() => new ModelFailure('CONTENT_FILTERED', 'Blocked.')));
  const { body } = await upload(service, agent, jsonLines(namedLines(3)), { key });
  await batchWhen(service, body.statusUrl, key);
  const { page, check } = await visit(`/agents/${agent.agentId}/batches`, { as: 'editor' });
  await page.getByText('1 of 3 succeeded').waitFor();
  await page.getByRole('button', { name: 'Actions for bat_' }).click();
  const link = page.getByRole('menuitem', { name: 'Show executions' });
  const batchId = body.batchId as string;
  assert.match((await link.getAttribute('href')) ?? '', new RegExp(`batchId=${batchId}`));
  await page.getByRole('menuitem', { name: 'Run failed lines again' }).click();
  const dialog = page.getByRole('dialog', { name: 'Run 2 failed lines again' });
  await check({ inDarkMode: true });
  await dialog.getByRole('button', { name: 'Run', exact: true }).dblclick();
  await page.getByText('2 of 2', { exact: true }).waitFor();
  await page.getByText('failed lines, again').waitFor();
  const { body: listed } = await service.call('GET', `${agent.path}/batches`, { key });
  assert.deepEqual(
    listed.batches.map(({ rerunOf }: { rerunOf: string | null }) => rerunOf),
    [batchId, null],
  );
});

test('failed lines lead to their executions', async () => {
  const agent = await addAgent(service);
  const lines = namedLines(120);
  service.models.script(...lines.map(() => new ModelFailure('CONTENT_FILTERED', 'Blocked.')));
  const { body } = await upload(service, agent, jsonLines(lines), { key });
  await batchWhen(service, body.statusUrl, key);
  const { page, check } = await visit(`/agents/${agent.agentId}/batches`, { as: 'viewer' });
  await page.getByRole('button', { name: 'Actions for bat_' }).click();
  await page.getByRole('menuitem', { name: 'Show failed lines' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('The first 100 of 120').waitFor();
  await check({ inDarkMode: true });
  await dialog.getByRole('link', { name: 'Open' }).first().click();
  await page.getByText('CONTENT_FILTERED').first().waitFor();
});

test('a phone shows state and failures of a batch without scrolling sideways', async () => {
  const agent = await addAgent(service);
  const lines = namedLines(120);
  service.models.script(...lines.map(() => new ModelFailure('CONTENT_FILTERED', 'Blocked.')));
  const { body } = await upload(service, agent, `${jsonLines(lines)}{}\n`, { key });
  await batchWhen(service, body.statusUrl, key);
  const { page, check } = await visit(`/agents/${agent.agentId}/batches`, {
    as: 'editor',
    viewport: { width: 390, height: 844 },
  });
  const frame = page.getByRole('region', { name: 'Batches' });
  for (const text of ['completed', '0 of 121 succeeded', '120 failed, 1 invalid']) {
    await frame.getByText(text).filter({ visible: true }).waitFor();
  }
  await frame.locator('time').filter({ visible: true }).waitFor();
  const [needed, there] = await frame.evaluate((one) => [one.scrollWidth, one.clientWidth]);
  assert.equal(needed, there);
  await check();
});

test('the page says why a batch waits, and cancels it after a confirmation', async () => {
  const agent = await addAgent(service, { rateLimits: { requestsPerDay: 1 } });
  const { body } = await upload(service, agent, jsonLines(namedLines(5)), { key });
  await batchWhen(service, body.statusUrl, key, ({ waitingFor }) => waitingFor === 'rate_limit');
  const { page, check } = await visit(`/agents/${agent.agentId}/batches`, { as: 'editor' });
  await page.getByText('a rate limit is reached').filter({ visible: true }).waitFor();
  await page.getByText('1 of 5').waitFor();
  await page.getByRole('button', { name: 'Actions for bat_' }).click();
  await page.getByRole('menuitem', { name: 'Cancel batch' }).click();
  const dialog = page.getByRole('dialog');
  await check({ inDarkMode: true });
  await dialog.getByRole('button', { name: 'Cancel batch' }).click();
  await page.getByText('on request').filter({ visible: true }).waitFor();
  const batch = await batchWhen(service, body.statusUrl, key);
  assert.deepEqual([batch.status, batch.counts.canceled], ['canceled', 4]);
});

test('a refused upload shows the reason, and a viewer cannot upload', async () => {
  const agent = await addAgent(service, { stage: 'Paused' });
  const path = `/agents/${agent.agentId}/batches`;
  const { page } = await visit(path, { as: 'editor' });
  const buffer = Buffer.from(jsonLines(namedLines(1)));
  await choose(page, buffer.toString());
  await page.getByRole('dialog').getByRole('button', { name: 'Run 1 line' }).click();
  await page.getByText('The agent is in stage Paused').waitFor();
  const { page: other } = await visit(path, { as: 'viewer' });
  await other.getByText('No batches yet').waitFor();
  assert.equal(await other.getByRole('button', { name: 'Choose a file' }).count(), 0);
});
