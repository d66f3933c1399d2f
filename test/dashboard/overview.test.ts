import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent, run } from '../../harness/agents.ts';
import { ModelFailure } from '../../src/core/model/model-port.ts';
import { sql } from '../../src/db/sql.ts';
import { loaded, openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();

/** An owner of a workspace of their own. */
async function ownWorkspace() {
  const { workspaceId, ownerId } = await service.workspace();
  return { workspaceId, as: { userId: ownerId } };
}

test('each figure leads to the list that it counts', async () => {
  const { workspaceId, as } = await ownWorkspace();
  const agent = await addAgent(service, { workspaceId, createdBy: as.userId });
  const { key } = await service.key({ workspaceId, userId: as.userId });
  await run(service, agent, key);
  await run(service, agent, key);
  const { page, check } = await visit('/', { as });
  const figures = page.getByRole('region', { name: 'Figures' });
  await figures.getByTitle('List these executions').getByText('2').waitFor();
  const href = async (title: string) => {
    const link = await figures.getByTitle(title).getAttribute('href');
    return new URL(link ?? '', service.url);
  };
  assert.equal((await href('List these executions')).pathname, '/history');
  assert.equal((await href('List the failures')).searchParams.get('status'), 'failed');
  const slow = await href('List those at least as slow').catch(() => null);
  assert.ok(slow === null || slow.searchParams.get('status') === 'success');
  assert.equal((await href('List running executions')).searchParams.get('status'), 'processing');
  await page.getByText('No execution failed in this period.').waitFor();
  await page.getByText('AI Actions this month').waitFor();
  const quota = page.getByRole('region', { name: 'Quota and limits' });
  const counted = await quota.getByRole('link', { name: /^2/ }).getAttribute('href');
  const filters = new URL(counted ?? '', service.url).searchParams;
  assert.equal(filters.get('playground'), 'true,false');
  await check({ inDarkMode: true });
  await figures.getByTitle('List these executions').click();
  await page.getByText('2 executions').first().waitFor();
});

test('shows failures by code and the newest with their reasons', async () => {
  const { workspaceId, as } = await ownWorkspace();
  const agent = await addAgent(service, { workspaceId, createdBy: as.userId });
  const { key } = await service.key({ workspaceId, userId: as.userId });
  service.models.script(new ModelFailure('PROVIDER_AUTH', 'The key was refused.'));
  const { executionId } = await run(service, agent, key);
  const { page, check } = await visit('/', { as });
  const codes = page.getByRole('region', { name: 'Failures by code' });
  const link = codes.getByRole('listitem').filter({ hasText: 'PROVIDER_AUTH' }).getByRole('link');
  assert.match((await link.getAttribute('href')) ?? '', /errorCode=PROVIDER_AUTH/);
  const recent = page.getByRole('region', { name: 'Recent failures' });
  await recent.getByText('PROVIDER_AUTH').waitFor();
  await check({ inDarkMode: true });
  await recent.getByRole('listitem').getByRole('link').last().click();
  await page.waitForURL(`**/history/${agent.agentId}/${executionId}`);
});

test('the checklist checks off its own steps and goes with the first call', async () => {
  const { workspaceId, as } = await ownWorkspace();
  const { page, check } = await visit('/', { as });
  const steps = page.getByRole('region', { name: /^Your first call/ });
  await steps.getByText('0 of 5 done').waitFor();
  await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
  await check({ inDarkMode: true });
  const agent = await addAgent(service, { workspaceId, createdBy: as.userId });
  const { key } = await service.key({ workspaceId, userId: as.userId });
  // It follows what happens elsewhere, without a reload.
  await steps.getByText('4 of 5 done').waitFor();
  const call = steps.getByRole('link', { name: 'Make the first call' });
  assert.equal(await call.getAttribute('href'), `/agents/${agent.agentId}/use`);
  await check();
  await run(service, agent, key);
  await steps.waitFor({ state: 'detached' });
});

test('the checklist stays if the version of an agent cannot be read', async () => {
  const { workspaceId, as } = await ownWorkspace();
  await addAgent(service, { workspaceId, createdBy: as.userId });
  const { page } = await visit('/keys', { as, intercepts: true });
  await page.route('**/api/v1/prompts/*/versions/*', (route) =>
    route.fulfill({ status: 404, json: { message: 'Not found.', code: 'NOT_FOUND' } }),
  );
  await page.goto('/');
  const steps = page.getByRole('region', { name: /^Your first call/ });
  await steps.getByText('2 of 5 done').waitFor();
  await page.unroute('**/api/v1/prompts/*/versions/*');
  await steps.getByText('3 of 5 done').waitFor();
});

test('a dismissed checklist stays away in other browsers of the user', async () => {
  const { as } = await ownWorkspace();
  const { page, check } = await visit('/', { as });
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await page.getByRole('region', { name: /^Your first call/ }).waitFor({ state: 'detached' });
  await check();
  const other = await visit('/', { as });
  await other.page.getByText('AI Actions this month').waitFor();
  await other.check();
  assert.equal(await other.page.getByRole('button', { name: 'Dismiss' }).count(), 0);
});

test('the password notice is one line that can be postponed', async () => {
  const { as } = await ownWorkspace();
  const { page, check } = await visit('/', { as });
  await page.getByText('AI Actions this month').waitFor();
  await sql`
    update accounts set generated_password = password where user_id = ${as.userId}`.execute(
    service.db,
  );
  await page.reload();
  const notice = page.getByText("generated password from the server's output");
  await notice.waitFor();
  await check({ inDarkMode: true });
  await page.getByRole('button', { name: 'Remind me in a week' }).click();
  await notice.waitFor({ state: 'detached' });
  const { rows } = await sql<{ days: number }>`
    select round(extract(epoch from until - clock_timestamp()) / 86400)::int as days
    from dismissals where user_id = ${as.userId} and notice = 'generatedPassword'`.execute(
    service.db,
  );
  assert.deepEqual(rows, [{ days: 7 }]);
});

test('nothing that is seen moves when the checklist arrives', async () => {
  const { workspaceId, ownerId: userId } = await service.workspace();
  assert.ok(workspaceId);
  const { page } = await visit('/healthz', { as: { userId }, intercepts: true });
  const held = Promise.withResolvers<void>();
  await page.route('**/api/v1/providers', async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.goto('/');
  const figures = page.getByRole('region', { name: 'Figures', includeHidden: true });
  // The figures are there, but nobody sees them before it is known what is above them.
  await figures.getByText('Running now').waitFor({ state: 'attached' });
  const seenAt = (await figures.isVisible()) ? await figures.boundingBox() : null;
  held.resolve();
  await page.getByRole('heading', { name: 'Your first call' }).waitFor();
  await figures.waitFor();
  assert.deepEqual(seenAt ?? (await figures.boundingBox()), await figures.boundingBox());
});

for (const width of [390, 1440]) {
  test(`nothing below the chart moves when its code and its data arrive, at ${width}`, async () => {
    const { workspaceId, ownerId: userId } = await service.workspace();
    const agent = await addAgent(service, { workspaceId, createdBy: userId });
    const { key } = await service.key({ workspaceId, userId });
    await run(service, agent, key);
    const viewport = { width, height: 900 };
    const { page } = await visit('/healthz', { as: { userId }, intercepts: true, viewport });
    const hold = async (urls: RegExp) => {
      const held = Promise.withResolvers<void>();
      await page.route(urls, async (route) => {
        await held.promise;
        await route.continue();
      });
      return held.resolve;
    };
    const sendCode = await hold(/assets\/overview-chart/);
    const sendData = await hold(/statistics\?(?!.*level=all)/);
    await page.goto('/');
    const figures = page.getByRole('region', { name: 'Figures' });
    await figures.getByText('Running now').waitFor();
    const top = async () => (await figures.boundingBox())?.y;
    const tops = [await top()];
    sendCode();
    const chart = page.getByRole('region', { name: 'Over time' });
    await chart.waitFor();
    tops.push(await top());
    sendData();
    await chart.getByRole('figure').locator('.recharts-surface').first().waitFor();
    tops.push(await top());
    assert.deepEqual(
      tops,
      tops.map(() => tops[0]),
    );
  });
}

for (const width of [390, 1440]) {
  test(`no list moves when the others arrive, at ${width}`, async () => {
    const { workspaceId, ownerId: userId } = await service.workspace();
    const agent = await addAgent(service, { workspaceId, createdBy: userId });
    const { key } = await service.key({ workspaceId, userId });
    await run(service, agent, key);
    service.models.script(new ModelFailure('PROVIDER_AUTH', 'The key was refused.'));
    await run(service, agent, key);
    const viewport = { width, height: 900 };
    const { page } = await visit('/healthz', { as: { userId }, intercepts: true, viewport });
    const held = Promise.withResolvers<void>();
    await page.route(/statistics\?/, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.goto('/');
    const recent = page.getByRole('region', { name: 'Recent failures' });
    await recent.getByText('PROVIDER_AUTH').waitFor();
    const tops = () =>
      page
        .locator('main section[aria-labelledby]')
        .evaluateAll((all) =>
          all.map((one) => [one.textContent.slice(0, 12), one.getBoundingClientRect().top]),
        );
    const before = await tops();
    held.resolve();
    await loaded(page);
    await page
      .getByRole('region', { name: 'Failures by code' })
      .getByText('PROVIDER_AUTH')
      .waitFor();
    assert.deepEqual(await tops(), before);
  });
}
