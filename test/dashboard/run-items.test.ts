import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Route } from 'playwright-core';
import { addAgent } from '../../harness/agents.ts';
import { makeWorkflow } from '../../harness/created-workflows.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();

const count = 120;

test('polls a workflow run without bodies, and its items beyond the first hundred until they end', async () => {
  const { statusUrl, release } = await startLong();
  const at = statusUrl.replace('/api/v1', '');
  const { page, check } = await visit('/keys', { as: 'viewer', intercepts: true });
  const pass = (route: Route) => route.continue();
  const gate = Promise.withResolvers<void>();
  let answer = async (route: Route) => {
    await gate.promise;
    await route.continue();
  };
  await page.route('**/steps/greet/items?*', (route) => answer(route));
  const polls: (string | null)[] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname === statusUrl) polls.push(searchParams.get('omit'));
  });
  await page.goto(`${at}?step=greet`);
  const rows = page.getByRole('table', { name: 'Started items' });
  const next = page.getByRole('button', { name: 'Next' });
  await page.getByText(`1–50 of ${count}`).waitFor();
  await next.click();
  await next.click();
  // While the page loads, it shows neither rows of another page nor an impossible range.
  await page.getByText(`101–${count} of ${count}`).waitFor();
  assert.equal(await rows.getAttribute('aria-busy'), 'true');
  answer = pass;
  gate.resolve();
  const processing = rows.getByText('processing');
  await processing.first().waitFor();
  assert.equal(await processing.count(), count - 100);

  // A failed poll keeps the rows and does not stop polling.
  answer = (route) => route.fulfill({ status: 503, json: {} });
  const stale = page.getByText('This may be out of date.');
  await stale.waitFor();
  assert.equal(await processing.count(), count - 100);
  const before = service.call('GET', `${statusUrl}/steps/greet/items?limit=50&offset=100`, {
    key: (await service.key()).key,
  });
  const { body: kept } = await before;
  // Until the page knows the end, it reads the earlier items.
  const ended = page.getByRole('status').getByText('success');
  answer = async (route) =>
    (await ended.isVisible()) ? route.continue() : route.fulfill({ json: kept });
  await stale.waitFor({ state: 'hidden' });
  const figure = (name: string) => page.getByRole('figure').filter({ hasText: name });
  await figure('Input').getByText('n119').waitFor();
  release();
  await ended.waitFor();
  await processing.first().waitFor({ state: 'hidden' });
  assert.equal(await rows.getByText('success').count(), count - 100);
  await figure('Input').getByText('n119').waitFor();
  await figure('Output').getByText('Hello').waitFor();
  assert.deepEqual(new Set(polls.slice(1, -1)), new Set(['bodies']));
  assert.deepEqual([polls.at(0), polls.at(-1)], [null, null]);
  await check();
});

/** A workflow run in which every item beyond the first hundred is held. */
async function startLong() {
  const { agentId } = await addAgent(service, { model: 'fake/model' });
  const { path } = await makeWorkflow(service, {
    input: { required: ['names'] },
    steps: [
      {
        name: 'greet',
        agentId,
        forEach: { list: '{{input.names}}', concurrency: 100, max: 1_000 },
        variables: { name: '{{item}}' },
      },
    ],
  });
  const released = Promise.withResolvers<void>();
  const answerTo = async ({ user }: { readonly user: string }) => {
    if (/n1\d\d$/.test(user)) await released.promise;
    return {};
  };
  service.models.script(...Array.from({ length: count }, () => answerTo));
  const body = { input: { names: Array.from({ length: count }, (_, n) => `n${n}`) } };
  const { key } = await service.key();
  const started = await service.call('POST', `${path}/execute`, { key, body });
  assert.equal(started.status, 202);
  return { statusUrl: started.body.statusUrl as string, release: released.resolve };
}
