import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { batchWhen, jsonLines, namedLines, unlimited, upload } from '../../harness/batches.ts';
import { ModelFailure } from '../../src/core/model/model-port.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();
const { key } = await service.key({ rateLimits: unlimited });

test('an editor uploads a file, follows it, downloads its results and opens it from a record', async () => {
  const agent = await addAgent(service);
  const path = `/agents/${agent.agentId}/batches`;
  const { page, check } = await visit(path, { as: 'editor' });
  await page.getByText('No batches yet').waitFor();
  await check({ inDarkMode: true });
  const file = `${jsonLines(namedLines(3))}{}\n`;
  await page
    .getByLabel('File of the batch')
    .setInputFiles({ name: 'lines.jsonl', mimeType: '', buffer: Buffer.from(file) });
  await page.getByText('4 of 4').waitFor();
  await page.getByText('completed').waitFor();
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
  await page.getByText('4 of 4').waitFor();
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
  for (const text of ['completed', '121 of 121', '120 failed, 1 invalid']) {
    await frame.getByText(text).waitFor();
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
  await page.getByText('a rate limit is reached').waitFor();
  await page.getByText('1 of 5').waitFor();
  await page.getByRole('button', { name: 'Actions for bat_' }).click();
  await page.getByRole('menuitem', { name: 'Cancel batch' }).click();
  const dialog = page.getByRole('dialog');
  await check({ inDarkMode: true });
  await dialog.getByRole('button', { name: 'Cancel batch' }).click();
  await page.getByText('on request').waitFor();
  const batch = await batchWhen(service, body.statusUrl, key);
  assert.deepEqual([batch.status, batch.counts.canceled], ['canceled', 4]);
});

test('a refused upload shows the reason, and a viewer cannot upload', async () => {
  const agent = await addAgent(service, { stage: 'Paused' });
  const path = `/agents/${agent.agentId}/batches`;
  const { page } = await visit(path, { as: 'editor' });
  const buffer = Buffer.from(jsonLines(namedLines(1)));
  const input = page.getByLabel('File of the batch');
  await input.setInputFiles({ name: 'lines.jsonl', mimeType: '', buffer });
  await page.getByText('The agent is in stage Paused').waitFor();
  const { page: other } = await visit(path, { as: 'viewer' });
  await other.getByText('No batches yet').waitFor();
  assert.equal(await other.getByRole('button', { name: 'Upload file' }).count(), 0);
});
