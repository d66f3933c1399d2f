import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../harness/created-workflows.ts';
import { makePrompt } from '../../harness/prompts.ts';
import { sql } from '../../src/db/sql.ts';
import { openDashboard, settled } from './harness.ts';

const { service, visit } = await openDashboard();
const javascriptBytesMax = 181_000;

test('the overview is the first page of everyone', async () => {
  for (const as of ['owner', 'viewer'] as const) {
    const { page } = await visit('/', { as });
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/');
  }
});

test('the command palette opens an agent by keyboard', async () => {
  const agent = await addAgent(service);
  const { page, check } = await visit('/agents', { as: 'owner' });
  await page.getByRole('table').waitFor();
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByPlaceholder(/^Search pages/).waitFor();
  await check();
  await page.keyboard.type('Agen');
  await page
    .getByRole('button', { name: /^Agent/ })
    .last()
    .waitFor();
  // Only the agent shows a stage.
  await page.getByRole('dialog').getByText('Deployed').first().waitFor();
  // After the page and the action of that name.
  const found = page.getByRole('dialog').getByRole('button', { name: /Deployed$/ });
  await found.first().click();
  await page.waitForURL(`**/agents/${agent.agentId}`);
});

test('the command palette receives what is typed before it is there', async () => {
  const { page, check } = await visit('/agents', { as: 'owner', intercepts: true });
  const held = Promise.withResolvers<void>();
  await page.route('**/assets/command-palette-*.js', async (route) => {
    await held.promise;
    await route.continue();
  });
  const filter = page.getByRole('searchbox');
  const search = page.getByPlaceholder(/^Search pages/);
  await filter.focus();
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('Printx');
  await page.keyboard.press('Backspace');
  held.resolve();
  await search.and(page.locator(':focus')).waitFor();
  assert.deepEqual([await search.inputValue(), await filter.inputValue()], ['Print', '']);
  // Another request leaves the keys to the open palette.
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('s');
  assert.equal(await search.inputValue(), 'Prints');
  await check();
  await page.keyboard.press('Escape');
  await search.waitFor({ state: 'detached' });
  // Its code is there, and it opens a moment later.
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('settings: bud\n');
  await page.waitForURL('**/settings/budgets');
});

test('the command palette keeps its place while its results change', async () => {
  for (const viewport of [
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
  ]) {
    const { page } = await visit('/keys', { as: 'owner', viewport, intercepts: true });
    await page.getByRole('heading', { name: 'API keys', exact: true }).waitFor();
    await page.keyboard.press('ControlOrMeta+k');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Keyboard shortcuts' }).waitFor();
    await settled(page);
    // Only its lower edge follows the results.
    const place = async () => ({ ...(await dialog.boundingBox()), height: 0 });
    const before = await place();
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    await page.route('**/api/v1/prompts?*', async (route) => {
      await answered;
      await route.continue();
    });
    await page.keyboard.type('nothing of this name');
    await dialog.getByText('Searching…').waitFor();
    assert.deepEqual(await place(), before);
    answer();
    await dialog.getByText('No matches').waitFor();
    assert.deepEqual(await place(), before);
  }
});

test('the command palette finds a prompt', async () => {
  await addAgent(service);
  const { promptId } = await makePrompt(service, { user: 'Hello' });
  await service.call('PATCH', `/api/v1/prompts/${promptId}`, {
    user: service.ownerId,
    body: { name: 'Harbour report' },
  });
  const { page, check } = await visit('/history', { as: 'owner' });
  await page.getByRole('heading', { name: 'Executions', exact: true }).waitFor();
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByPlaceholder(/^Search pages/).fill('harbour');
  // No page matches, so the server's result is the first, and Enter opens it.
  const found = page.getByRole('button', { name: 'Harbour report' });
  await found.and(page.locator('[data-selected]')).waitFor();
  await check();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/prompts/${promptId}`);
});

test('the command palette shows the states of workflows as the pages do', async () => {
  const { agentId } = await addAgent(service);
  await makeWorkflow(service, greeting(agentId), { name: 'Nightly digest' });
  const { page } = await visit('/history', { as: 'owner' });
  await page.getByRole('heading', { name: 'Executions', exact: true }).waitFor();
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByPlaceholder(/^Search pages/).fill('nightly');
  await page.getByRole('button', { name: /^Nightly digest\s*Enabled$/ }).waitFor();
});

test('scrolls the active tab into view on a narrow screen', async () => {
  const viewport = { width: 360, height: 740 };
  const { page, check } = await visit('/settings/account', { as: 'owner', viewport });
  const tab = page.getByRole('link', { name: 'Account' });
  await tab.waitFor();
  const { x, width } = (await tab.boundingBox()) ?? { x: -1, width: 0 };
  assert.ok(x >= 0 && x + width <= viewport.width, `${x} to ${x + width}`);
  await check();
});

test('opens the chosen workspace while the user is a member', async () => {
  const { ownerId: userId } = await service.workspace();
  const { promptId } = await makePrompt(service, { user: 'Only here' });
  await sql`
    insert into members (workspace_id, user_id, role)
    values (${service.workspaceId}, ${userId}, 'viewer')`.execute(service.db);
  const { page, check } = await visit('/agents', { as: { userId } });
  await page.getByRole('button', { name: /^Workspace/ }).click();
  await page.getByRole('menuitem').last().click();
  await page.waitForURL(/:\d+\/$/);
  await page.goto(`/prompts/${promptId}`);
  await page.getByRole('textbox', { name: 'User template' }).waitFor();
  await check();
  await sql`
    delete from members
    where workspace_id = ${service.workspaceId} and user_id = ${userId}`.execute(service.db);
  await page.goto('/agents');
  await page.getByRole('link', { name: 'New agent' }).first().waitFor();
});

test('? lists the shortcuts, and they work', async () => {
  const { page, check } = await visit('/keys', { as: 'owner' });
  await page.getByRole('heading', { name: 'API keys', exact: true }).waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await check();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  // The second key must follow within a second: on a slow machine, press both again.
  for (let arrived = false; !arrived; ) {
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    arrived = await page.waitForURL('**/agents', { timeout: 5_000 }).then(
      () => true,
      () => false,
    );
  }
});

test('remembers the appearance', async () => {
  const { page } = await visit('/agents', { as: 'owner', colorScheme: 'light', intercepts: true });
  await page.getByRole('button', { name: 'owner' }).click();
  await page.getByRole('menuitem', { name: 'Dark' }).click();
  // Applies before any script runs.
  await page.route('**/*.js', (route) => route.abort());
  await page.reload({ waitUntil: 'domcontentloaded' });
  const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
  assert.equal(ground, 'rgb(19, 21, 23)');
});

test('an unknown URL shows not found', async () => {
  const { page, check } = await visit('/agents/a/b/c', { as: 'viewer' });
  const nowhere = page.getByRole('heading', { name: 'Page not found' });
  await nowhere.waitFor();
  await check();
  assert.equal((await page.goto('/nope/x'))?.status(), 404);
  await nowhere.waitFor();
  await check();
  await page.getByRole('link', { name: 'Agents', exact: true }).click();
  await page.getByRole('heading', { name: 'Agents', exact: true }).waitFor();
});

test('what a page is about begins in its first 340 pixels', async () => {
  const { agentId } = await addAgent(service);
  const { page } = await visit(`/agents/${agentId}/history`, {
    ...{ as: 'owner', viewport: { width: 1440, height: 900 } },
  });
  for (const path of [`/agents/${agentId}/history`, '/history', '/agents', '/keys']) {
    await page.goto(path);
    await page.waitForLoadState('networkidle');
    const content = page.locator('main table, main h2').first();
    const top = await content.evaluate((element) => element.getBoundingClientRect().top);
    assert.ok(top <= 340, `${path}: ${top} px`);
  }
});

test('the first page loads little JavaScript', async () => {
  for (const [path, as] of [
    ['/sign-in', undefined],
    ['/', 'owner'],
  ] as const) {
    // A browser with an empty cache.
    const { page } = await visit('/healthz', as && { as });
    await page.goto(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    const bytes = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .filter(({ name }) => name.endsWith('.js'))
        .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).encodedBodySize, 0),
    );
    assert.ok(bytes > 0 && bytes <= javascriptBytesMax, `${path}: ${bytes} bytes`);
  }
});
