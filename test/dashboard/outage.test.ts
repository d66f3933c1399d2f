import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../harness/created-workflows.ts';
import { openDashboard, returnToWindow } from './harness.ts';

/** Pages while the server, the network or a lazy chunk is unavailable. */

const { service, visit } = await openDashboard();
const { agentId } = await addAgent(service);

test('keeps a list whose refetch fails, and recovers', async () => {
  const { page, check } = await visit('/agents', { as: 'owner', intercepts: true });
  await page.getByRole('link', { name: 'Agent', exact: true }).first().waitFor();
  await page.clock.install();
  await page.route('**/api/v1/agents?*', (route) => route.fulfill({ status: 500, json: problem }));
  await returnToWindow(page);
  await page.getByText('This may be out of date. It broke.').waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
  await page.getByRole('link', { name: 'Agent', exact: true }).first().waitFor();
  await check();
  await page.unroute('**/api/v1/agents?*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('This may be out of date.').waitFor({ state: 'hidden' });
});

test('keeps workflow data whose refetch fails, and recovers', async () => {
  const { key } = await service.key();
  const { workflowId, path } = await makeWorkflow(service, greeting(agentId), { name: 'Round' });
  const schedule = { cron: '0 2 * * *', timeZone: 'UTC', input: { name: 'Ada' } };
  await service.call('POST', `${path}/schedules`, { key, body: schedule });
  await service.call('POST', `${path}/webhooks`, { key, body: { name: 'Desk' } });
  const run = await service.call('POST', `${path}/execute`, {
    key,
    body: { input: { name: 'Ada' } },
  });
  const { workflowRunId } = run.body;
  const { page, check } = await visit('/workflows', { as: 'owner', intercepts: true });
  await page.clock.install();
  for (const [at, asked, seen] of [
    ['', '**/api/v1/workflows?*', 'Round'],
    [`/${workflowId}/runs`, '**/runs?*', 'success'],
    [`/${workflowId}/runs/${workflowRunId}`, '**/runs/*', 'success'],
    [`/${workflowId}/triggers`, '**/schedules?*', '0 2 * * *'],
    [`/${workflowId}/triggers`, '**/webhooks?*', 'Desk'],
  ] as const) {
    await page.goto(`/workflows${at}`);
    const known = page.getByText(seen, { exact: true }).filter({ visible: true }).first();
    await known.waitFor();
    await page.route(asked, (route) => route.fulfill({ status: 500, json: problem }));
    await returnToWindow(page);
    const notice = page.getByText('This may be out of date. It broke.');
    await notice.waitFor();
    await known.waitFor();
    assert.equal(await page.getByRole('alert').count(), 0, at);
    await page.unroute(asked);
    // The list of workflow runs polls.
    if (asked === '**/runs?*') await page.clock.fastForward(20_000);
    else await page.getByRole('button', { name: 'Try again' }).click();
    await notice.waitFor({ state: 'hidden' });
  }
  await check();
});

test('keeps edits during a failed or slow save and a failed pin', async () => {
  const { workflowId, path } = await makeWorkflow(service, greeting(agentId));
  const { page, check } = await visit(`/workflows/${workflowId}/definition`, {
    as: 'editor',
    intercepts: true,
  });
  const editor = page.getByRole('textbox', { name: 'Definition' });
  const notes = page.getByRole('textbox', { name: 'Notes' });
  const save = page.getByRole('button', { name: 'Save version' });
  await editor.click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.insertText('output: "{{steps.greet.output}}!"\n');
  await notes.fill('Louder');
  await page.getByRole('checkbox', { name: /^Pin this version/ }).uncheck();
  const versions = `**${path}/versions{,/*}`;
  await page.route(versions, (route) => route.fulfill({ status: 500, json: problem }));
  await save.click();
  await page.getByRole('alert').getByText('It broke.').waitFor();
  assert.equal(await notes.inputValue(), 'Louder');
  await editor.getByText('output').first().waitFor();
  await page.unroute(versions);
  let send = () => {};
  const held = new Promise<void>((resolve) => {
    send = resolve;
  });
  await page.route(versions, async (route) => {
    if (route.request().method() === 'POST') await held;
    await route.continue();
  });
  await save.click();
  await notes.fill('For the next one');
  await editor.click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.insertText('# Written meanwhile\n');
  send();
  await page.getByText('Unsaved changes, based on “v2”.').waitFor();
  await editor.getByText('# Written meanwhile').waitFor();
  assert.equal(await notes.inputValue(), 'For the next one');
  await page.route(`**${path}`, (route) =>
    route.request().method() === 'PATCH'
      ? route.fulfill({ status: 500, json: problem })
      : route.continue(),
  );
  await save.click();
  await page.getByText('Saved as v3. “v1” stays pinned.').waitFor();
  await page.getByRole('alert').getByText('It broke.').waitFor();
  assert.ok(await save.isDisabled());
  assert.equal(await notes.inputValue(), '');
  await check();
});

test('an offline browser still calls the server', async () => {
  const { page } = await visit('/agents', { as: 'owner' });
  await page.getByRole('table').waitFor();
  await page.evaluate("window.dispatchEvent(new Event('offline'))");
  await page.getByRole('link', { name: 'Prompts' }).click();
  await page.getByRole('heading', { name: 'Agent' }).or(page.getByRole('table')).first().waitFor();
  await page.getByRole('button', { name: 'New prompt' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Written in the woods');
  await dialog.getByRole('button', { name: 'Create and edit' }).click();
  await page.waitForURL(/\/prompts\/prm_/);
});

test('a page whose chunk is out of reach says so once, and loads by itself later', async () => {
  const { page } = await visit('/agents', { as: 'owner' });
  await page.getByRole('table').waitFor();
  for (const name of ['Prompts', 'Analytics']) {
    await page.context().setOffline(true);
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { name: 'Cannot reach the server' }).waitFor();
    const offline = page
      .getByText('Offline: the server does not answer.')
      .filter({ visible: true });
    await offline.waitFor();
    assert.equal(await offline.count(), 1);
    assert.equal(await page.getByText(/preload|imported module|https?:/).count(), 0);
    await page.context().setOffline(false);
    await page.getByRole('heading', { name, exact: true }).waitFor();
  }
});

test('a page whose link was hovered while offline loads once the server is back', async () => {
  const { page } = await visit('/agents', { as: 'owner' });
  await page.getByRole('table').waitFor();
  const link = page.getByRole('link', { name: 'Prompts', exact: true });
  const failed = page.waitForEvent('requestfailed', (request) =>
    request.url().includes('/assets/prompts-page-'),
  );
  await page.context().setOffline(true);
  await link.hover();
  await failed;
  await page.context().setOffline(false);
  await link.click();
  await page.getByRole('heading', { name: 'Prompts', exact: true }).waitFor();
});

test('without the shell, the page itself says that it is offline', async () => {
  const { page } = await visit('/sign-in', { as: 'owner', intercepts: true });
  await page.route('**/assets/shell-*.js', (route) => route.abort());
  await page.route(`${service.url}/`, (route) => route.abort());
  await page.goto('/agents');
  await page.getByRole('heading', { name: 'Cannot reach the server' }).waitFor();
  await page.getByText('Offline: the server does not answer.').waitFor();
  await page.unroute('**/assets/shell-*.js');
  await page.unroute(`${service.url}/`);
  await page.getByRole('heading', { name: 'Agents', exact: true }).waitFor();
});

test('a chunk that fails to load leaves the page intact', async () => {
  const { page, check } = await visit('/agents', { as: 'owner', intercepts: true });
  await page.getByRole('table').waitFor();
  await page.route('**/assets/command-palette-*.js', (route) => route.fulfill({ status: 404 }));
  await page.keyboard.press('ControlOrMeta+k');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Part of this page could not be loaded.').waitFor();
  assert.ok(await page.getByRole('table', { includeHidden: true }).isVisible());
  await check();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await page.keyboard.press('ControlOrMeta+k');
  await page.unroute('**/assets/command-palette-*.js');
  await Promise.all([
    page.waitForEvent('load'),
    dialog.getByRole('button', { name: 'Try again' }).click(),
  ]);
  await page.getByRole('table').waitFor();
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByPlaceholder('Search pages, agents').waitFor();
});

test('an open page reloads after an upgrade', async () => {
  for (const [chunk, role, name] of [
    ['command-palette', 'button', 'Search'],
    ['prompts-page', 'link', 'Prompts'],
  ] as const) {
    const { page } = await visit('/agents', { as: 'owner', intercepts: true });
    await page.getByRole('table').waitFor();
    await page.evaluate('window.before = true');
    await page.route(`**/assets/${chunk}-*.js`, (route) => route.fulfill({ status: 404 }));
    await page.route(`${service.url}/`, (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: '<script src="/assets/index-new.js"></script>',
      }),
    );
    await Promise.all([page.waitForEvent('load'), page.getByRole(role, { name }).click()]);
    await page.getByRole('heading', { level: 1 }).waitFor();
    assert.equal(await page.evaluate('window.before'), undefined);
  }
});

const problem = {
  error: 'Internal error',
  message: 'It broke.',
  code: 'INTERNAL',
  requestId: 'req_of_the_test',
};
