import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { addAgent, run } from '../../harness/agents.ts';
import { addAlert } from '../../harness/alerts.ts';
import { greeting, makeWorkflow } from '../../harness/created-workflows.ts';
import { addEndpoint } from '../../harness/endpoints.ts';
import { makePrompt } from '../../harness/prompts.ts';
import { loaded, openDashboard, timeoutMs } from './harness.ts';

/** Visits every page, narrow and wide, light and dark, and with a failing server. */

const { service, visit } = await openDashboard();
const { key } = await service.key();
/** A long word without spaces. */
const word = (length: number) => 'w'.repeat(length);
const agent = await addAgent(service, { system: `A ${'very '.repeat(60)}long text` });
await change(agent.path, {
  ...{ agentName: word(200), description: word(300), project: word(100), tags: [word(40)] },
  ...{ optionalVariables: [word(60)], defaultVariableValues: { [word(60)]: word(200) } },
});
const { executionId } = await run(service, agent, key, { name: word(300) });
const { promptId, path: promptPath } = await makePrompt(
  service,
  { user: 'Hello {{name}}', label: word(60), notes: word(400) },
  { user: 'Bye {{name}}', notes: word(400) },
);
await change(promptPath, { name: word(200), description: word(900) });
const about = { name: word(200), description: word(900) };
const made = await makeWorkflow(service, greeting(agent.agentId), about);
const permissions = ['execute'];
await service.call('POST', '/api/v1/keys', {
  ...{ key, body: { name: word(200), agentIds: [agent.agentId], permissions } },
});
const started = await service.call('POST', `${made.path}/execute`, {
  key,
  body: { input: { name: word(300) } },
});
const { workflowId, workflowRunId } = started.body;
const { endpointId } = await addEndpoint(service, key, {
  url: `https://${word(60)}.example/${word(200)}`,
  description: word(300),
});
await addAlert(service, key, { name: word(200) });

/** Paths of all pages, and whether they load data beyond the signed-in user. */
const pages: readonly (readonly [string, 'reads' | 'reads nothing'])[] = [
  ['/', 'reads'],
  ['/analytics', 'reads'],
  ['/agents', 'reads'],
  ['/agents/new', 'reads nothing'],
  [`/agents/${agent.agentId}`, 'reads'],
  [`/agents/${agent.agentId}/analytics`, 'reads'],
  [`/agents/${agent.agentId}/run`, 'reads'],
  [`/agents/${agent.agentId}/history`, 'reads'],
  [`/agents/${agent.agentId}/history/${executionId}`, 'reads'],
  [`/agents/${agent.agentId}/use`, 'reads'],
  [`/agents/${agent.agentId}/versions`, 'reads'],
  [`/agents/${agent.agentId}/settings`, 'reads'],
  ['/prompts', 'reads'],
  [`/prompts/${promptId}`, 'reads'],
  [`/prompts/${promptId}/playground`, 'reads'],
  [`/prompts/${promptId}/versions`, 'reads'],
  ['/workflows', 'reads'],
  ['/workflows/new', 'reads nothing'],
  [`/workflows/${workflowId}`, 'reads'],
  [`/workflows/${workflowId}/runs`, 'reads'],
  [`/workflows/${workflowId}/runs/${workflowRunId}`, 'reads'],
  [`/workflows/${workflowId}/run`, 'reads'],
  [`/workflows/${workflowId}/definition`, 'reads'],
  [`/workflows/${workflowId}/versions`, 'reads'],
  [`/workflows/${workflowId}/triggers`, 'reads'],
  ['/history', 'reads'],
  [`/history/${agent.agentId}/${executionId}`, 'reads'],
  ['/history/compare', 'reads nothing'],
  ['/keys', 'reads'],
  ['/settings/workspace', 'reads'],
  ['/settings/members', 'reads'],
  ['/settings/providers', 'reads'],
  ['/settings/endpoints', 'reads'],
  [`/settings/endpoints/${endpointId}`, 'reads'],
  ['/settings/alerts', 'reads'],
  ['/settings/budgets', 'reads'],
  ['/settings/retention', 'reads'],
  ['/settings/audit', 'reads'],
  ['/settings/account', 'reads nothing'],
];

/** A few per test, so that no test takes long on a slow machine. */
const groups = Array.from({ length: Math.ceil(pages.length / 4) }, (_, at) =>
  pages.slice(at * 4, at * 4 + 4),
);

const seen = await visit('/settings/account', { as: { userId: service.ownerId } });
for (const [at, group] of groups.entries()) {
  test(`pages fit wide and narrow screens and pass axe, part ${at + 1}`, async () => {
    const { page, check } = seen;
    for (const [path] of group) {
      await page.goto(path);
      await loaded(page);
      for (const width of [1440, 1024, 360]) {
        await page.setViewportSize({ width, height: 800 });
        await fits(page, width);
      }
      await check({ inDarkMode: true });
    }
  });
}

for (const [at, group] of groups.entries()) {
  test(`pages show the server's message if nothing loads, part ${at + 1}`, async () => {
    const { page } = await visit('/settings/account', {
      as: { userId: service.ownerId },
      intercepts: true,
    });
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.route(
      (url) => url.pathname.startsWith('/api/v1/') && url.pathname !== '/api/v1/me',
      (route) =>
        route.request().method() === 'GET'
          ? route.fulfill({ status: 500, json: problem })
          : route.continue(),
    );
    for (const [path, reads] of group) {
      if (reads === 'reads nothing') continue;
      await page.goto(path);
      await page.getByRole('alert').getByText('It broke.').first().waitFor();
    }
  });
}

test('an offset beyond the end of a list shows its last page', async () => {
  const { page } = await visit('/agents?offset=5000', { as: { userId: service.ownerId } });
  const lists = ['/prompts', '/workflows', '/keys', '/history', '/settings/audit'];
  for (const path of ['/agents', ...lists, `/workflows/${workflowId}/runs`]) {
    if (path !== '/agents') await page.goto(`${path}?offset=5000`);
    await page.waitForURL(`**${path}`);
    await page.getByRole('navigation', { name: 'Pages' }).getByText(/^1–/).waitFor();
  }
});

test('a day without a midnight does not break the charts', async () => {
  const timezoneId = 'America/Santiago';
  const { page, check } = await visit('/agents', {
    as: { userId: service.ownerId },
    timezoneId,
    intercepts: true,
  });
  const [start, end] = ['2026-08-12T04:00:00.000Z', '2026-09-11T03:00:00.000Z'];
  // Daylight saving time starts at midnight of 6 September, so later days start three hours before those of UTC.
  const bucket = {
    ...{ start: '2026-09-08T03:00:00.000Z', status: 'success', count: 3, inputTokens: 30 },
    ...{ outputTokens: 60, costUSD: 0.5, costUnknown: 0, latencyMs: { p50: 10, p95: 20, p99: 30 } },
  };
  await page.clock.setFixedTime('2026-09-10T15:00:00.000Z');
  await page.route('**/statistics?*', (route) => {
    const level = new URL(route.request().url()).searchParams.get('level');
    const totals = [{ ...bucket, start }];
    const buckets = level === 'all' ? totals : [bucket];
    return route.fulfill({ json: { level, startDate: start, endDate: end, buckets, totals } });
  });
  await page.goto(`/agents/${agent.agentId}/analytics?range=30d&by=status`);
  await page.getByRole('figure').first().locator('.recharts-bar-rectangle path').waitFor();
  await check();
});

const problem = {
  error: 'Internal error',
  message: 'It broke.',
  code: 'INTERNAL',
  requestId: 'req_of_the_test',
};

async function change(path: string, body: object): Promise<void> {
  const response = await service.call('PATCH', path, { key, body });
  assert.equal(response.status, 200, JSON.stringify(response.body));
}

/** The page and each table fit the width. Charts resize a few frames later. */
async function fits(page: Page, width: number): Promise<void> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    const found = Number(await page.evaluate('document.documentElement.scrollWidth'));
    const hidden = await page.evaluate(clippedTables);
    if (found <= width && hidden === '') return;
    const what = `${page.url()} is ${found} pixels wide at ${width}`;
    assert.ok(performance.now() < until, `${what}, hidden in ${hidden || 'nothing'}`);
    await page.waitForTimeout(50);
  }
}

const clippedTables = `[...document.querySelectorAll('section:has(> table)')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
  .map((one) => one.ariaLabel).join()`;
