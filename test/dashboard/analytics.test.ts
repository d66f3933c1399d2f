import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import { addAgent, run, type TestAgent } from '../../harness/agents.ts';
import { freshId } from '../../harness/fresh-id.ts';
import { insertStatistics, tally } from '../../harness/statistics.ts';
import type { Tally } from '../../src/core/history/statistics.ts';
import { sql } from '../../src/db/sql.ts';
import { countClicks } from './count-clicks.ts';
import { loaded, openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();
const dayMs = 86_400_000;

async function count(agent: TestAgent, daysAgo: number, tallies: readonly Partial<Tally>[]) {
  const executedAtMs = Date.now() - daysAgo * dayMs;
  await insertStatistics(
    service.db,
    tallies.map((one) => tally({ agentId: agent.id, executedAtMs, ...one })),
  );
}

const failed = { status: 'failed', errorCode: 'PROVIDER_ERROR' } as const;

test('why cost rose: cost by model in one click, the executions behind it in two', async () => {
  const agent = await addAgent(service);
  await count(agent, 10, [{ costUsd: '0.5', model: 'openai/gpt-5-mini' }]);
  await count(agent, 3, [
    { costUsd: '0.5', model: 'openai/gpt-5-mini' },
    { costUsd: '4', model: 'anthropic/claude-opus-5' },
  ]);
  const { page, check } = await visit('/?range=7d', { as: 'viewer' });
  const clicks = await countClicks(page);
  const figures = page.getByRole('region', { name: 'Figures', exact: true });
  await figures.getByRole('link', { name: '$4.50' }).waitFor();
  await figures.getByRole('link', { name: 'By model' }).click();
  const table = page.getByRole('table', { name: 'Cost by model' });
  const row = table.getByRole('row').filter({ hasText: 'anthropic/claude-opus-5' });
  await row.getByRole('link', { name: '$4.00', exact: true }).waitFor();
  // The most expensive comes first, below the total, which shows the change.
  assert.match(
    await table.getByRole('row').nth(1).innerText(),
    /All executions[\s\S]+\$4\.50[\s\S]+\$0\.50[\s\S]+\+800%/,
  );
  assert.match(await table.getByRole('row').nth(2).innerText(), /claude-opus-5/);
  assert.equal(await clicks(), 1);
  await check({ inDarkMode: true });
  await row.getByRole('link', { name: '$4.00', exact: true }).click();
  await page.waitForURL(/\/history\?.*model=anthropic%2Fclaude-opus-5/);
  assert.match(page.url(), /startDate=/);
  assert.equal(await clicks(), 2);
});

test('a click on a bar opens the executions behind it', async () => {
  const agent = await addAgent(service);
  await count(agent, 0, [{}, {}, failed]);
  const { page, check } = await visit(`/agents/${agent.agentId}/analytics`, { as: 'viewer' });
  await page.getByRole('figure').locator('.recharts-bar-rectangle path').first().waitFor();
  await check({ inDarkMode: true });
  await page.getByRole('figure').locator('.recharts-bar-rectangle path').first().click();
  await page.waitForURL(new RegExp(`/agents/${agent.agentId}/history\\?`));
  const { searchParams } = new URL(page.url());
  const [start, end] = ['startDate', 'endDate'].map((name) =>
    Date.parse(searchParams.get(name) ?? ''),
  );
  assert.equal((end ?? 0) + 1 - (start ?? 0), 6 * 3_600_000);
  assert.equal(searchParams.get('status'), 'success');
});

test('every grouping shows its groups, and each figure leads to them', async () => {
  const agent = await addAgent(service);
  const { key, apiKeyId } = await service.key();
  const labels = { user: 'u-17', tags: ['beta'] };
  await service.call('POST', `${agent.path}/execute`, {
    key,
    body: { variables: { name: 'x' }, ...labels },
  });
  await run(service, agent, key);
  const { page } = await visit(`/agents/${agent.agentId}/analytics?range=24h`, { as: 'viewer' });
  for (const [grouping, name, filter] of [
    ['Model', 'cueline/echo', 'model=cueline%2Fecho'],
    ['Version', 'v1', `promptVersionId=${agent.promptVersionId}`],
    ['API key', /./, `apiKeyId=${apiKeyId}`],
    ['Source', 'api', 'source=api'],
    ['User', 'u-17', 'user=u-17'],
    ['Tag', 'beta', 'tag=beta'],
  ] as const) {
    await page
      .getByRole('group', { name: 'Group by' })
      .getByText(grouping, { exact: true })
      .click();
    const table = page.getByRole('table', { name: `Executions by ${grouping.toLowerCase()}` });
    const row = table.getByRole('row').nth(2).filter({ hasText: name });
    const href = await row.getByRole('link').first().getAttribute('href');
    assert.ok(href?.includes(filter), `${grouping}: ${href}`);
  }
});

async function boxOf(locator: Locator) {
  const box = await locator.boundingBox();
  assert.ok(box);
  return box;
}

test('the tooltip of a bar lists few pins and stays inside the window', async () => {
  const agent = await addAgent(service);
  await count(agent, 0, [{}, failed]);
  for (let i = 0; i < 12; i++) {
    await sql`
      insert into pins (id, agent_id, prompt_version_id)
      select ${freshId()}, id, prompt_version_id from agents where id = ${agent.id}`.execute(
      service.db,
    );
  }
  for (const heightPx of [700, 480]) {
    const { page } = await visit('/analytics?range=24h&by=agent', {
      as: 'viewer',
      viewport: { width: 1440, height: heightPx },
    });
    await page.getByRole('list', { name: 'Versions pinned' }).waitFor();
    const length = () => page.evaluate<number>('document.documentElement.scrollHeight');
    const before = await length();
    const bar = page.getByRole('figure').locator('.recharts-bar-rectangle path').last();
    await bar.hover();
    const tooltip = page.locator('.recharts-tooltip-wrapper > div');
    await tooltip.getByText(/^and \d+ more pinned$/).waitFor();
    assert.equal(await tooltip.getByText(/v1 pinned/).count(), 3);
    const { x, y, width, height } = await boxOf(tooltip);
    assert.ok(y >= 0 && y + height <= heightPx, `${y} to ${y + height} of ${heightPx}`);
    const { x: barX, width: barWidth } = await boxOf(bar);
    const gap = Math.max(barX - (x + width), x - (barX + barWidth));
    assert.ok(gap < 60, `${gap} px beside the bar`);
    assert.equal(await length(), before);
  }
});

test('percentiles are marked as approximate, and pinned versions in the chart', async () => {
  const agent = await addAgent(service);
  await count(agent, 0, [{ latencyMs: 1_200 }, { latencyMs: 1_200 }]);
  const { key } = await service.key();
  const { promptId } = (await service.call('GET', agent.path, { key })).body;
  const version = await service.call('POST', `/api/v1/prompts/${promptId}/versions`, {
    key,
    body: { user: 'Bye {{name}}', label: 'calmer', model: 'cueline/echo' },
  });
  const { promptVersionId } = version.body;
  await service.call('PATCH', agent.path, { key, body: { promptVersionId } });
  const path = `/agents/${agent.agentId}/analytics?metric=latency`;
  const { page, check } = await visit(path, { as: 'viewer' });
  const table = page.getByRole('table', { name: 'Latency' });
  assert.match(await table.getByRole('link').first().innerText(), /^≈ 1\.\d+ s$/);
  await page.getByRole('list', { name: 'Versions pinned' }).getByText('calmer pinned').waitFor();
  await page.locator('.recharts-reference-line-line').first().waitFor({ state: 'attached' });
  await check();
});

test('seven days have bars of six hours, and the axis has even ticks', async () => {
  const agent = await addAgent(service);
  await count(
    agent,
    1,
    Array.from({ length: 37 }, () => ({})),
  );
  const { page } = await visit(`/agents/${agent.agentId}/analytics`, { as: 'viewer' });
  await page.getByText('Executions every 6 hours').waitFor();
  const ticks = page.locator('.recharts-yAxis-tick-labels .recharts-cartesian-axis-tick-value');
  await ticks.first().waitFor();
  const values = (await ticks.allTextContents()).map(Number);
  assert.ok(values.length >= 3, values.join());
  const distances = values.slice(1).map((value, index) => value - (values[index] ?? 0));
  assert.equal(new Set(distances).size, 1, values.join());
});

test('a custom range is in the URL and shows what it is compared with', async () => {
  const agent = await addAgent(service);
  const { page, check } = await visit(`/agents/${agent.agentId}/analytics`, {
    as: 'viewer',
    timezoneId: 'Europe/Berlin',
  });
  await page.getByRole('button', { name: 'Custom' }).click();
  await page.getByLabel('First day').fill('2026-03-27');
  await page.getByLabel('Last day').fill('2026-03-31');
  await check();
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await page.waitForURL(/from=.*2026-03-26T23%3A00.*to=.*2026-03-31T21%3A59/);
  await page.getByText(/compared with Mar 22/).waitFor();
  await page.getByRole('heading', { name: 'No executions in this period' }).waitFor();
  await check();
  await page.getByRole('button', { name: 'Show the last 90 days' }).click();
  await page.waitForURL(/range=90d/);
});

test('shows longer intervals if shorter ones would add up too much, and says so', async () => {
  const agent = await addAgent(service);
  await count(agent, 1, [{}]);
  const { page, check } = await visit('/keys', { as: 'viewer', intercepts: true });
  const tooMuch = {
    ...{ error: 'Invalid request', code: 'INVALID_REQUEST', requestId: 'req_of_the_test' },
    message: 'The response adds up more than 100000 stored rows.',
  };
  let refused = ['sixHours'];
  await page.route('**/statistics?*groupBy=model*', (route) => {
    const level = new URL(route.request().url()).searchParams.get('level') ?? '';
    return refused.includes(level)
      ? route.fulfill({ status: 400, json: tooMuch })
      : route.continue();
  });
  await page.goto(`/agents/${agent.agentId}/analytics?metric=cost`);
  await page.getByText('Shorter intervals would add up too much at once').waitFor();
  await page.getByText('Cost by day').waitFor();
  await check();
  refused = ['sixHours', 'day', 'week'];
  await page.reload();
  await page.getByRole('heading', { name: 'Too much to add up at once' }).waitFor();
  await loaded(page);
  await check();
});
