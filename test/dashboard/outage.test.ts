import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../harness/made-workflows.ts';
import { lookAgain, openDashboard } from './harness.ts';

/** What happens to a page when the server, a part of the page or the network is gone for a while. */

const { service, visit } = await openDashboard();
const { agentId } = await addAgent(service);

test('a list stays where it cannot be read anew, and comes up to date again', async () => {
  const { page, check } = await visit('/agents', { as: 'owner', intercepts: true });
  await page.getByRole('link', { name: 'Agent', exact: true }).first().waitFor();
  await page.clock.install();
  await page.route('**/api/v1/agents?*', (route) => route.fulfill({ status: 500, json: problem }));
  await lookAgain(page);
  await page.getByText('This may be out of date. It broke.').waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
  await page.getByRole('link', { name: 'Agent', exact: true }).first().waitFor();
  await check();
  await page.unroute('**/api/v1/agents?*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('This may be out of date.').waitFor({ state: 'hidden' });
});

test('so does what is known of workflows', async () => {
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
    await lookAgain(page);
    const notice = page.getByText('This may be out of date. It broke.');
    await notice.waitFor();
    await known.waitFor();
    assert.equal(await page.getByRole('alert').count(), 0, at);
    await page.unroute(asked);
    // The list of runs is looked at again by itself.
    if (asked === '**/runs?*') await page.clock.fastForward(20_000);
    else await page.getByRole('button', { name: 'Try again' }).click();
    await notice.waitFor({ state: 'hidden' });
  }
  await check();
});

test('what is written of a version outlives a save that fails, that takes its time, and a pin that fails', async () => {
  const { workflowId, path } = await makeWorkflow(service, greeting(agentId));
  const { page, check } = await visit(`/workflows/${workflowId}/definition`, {
    as: 'editor',
    intercepts: true,
  });
  const editor = page.getByRole('textbox', { name: 'Definition' });
  const notes = page.getByRole('textbox', { name: 'Notes' });
  const save = page.getByRole('button', { name: 'Save the version' });
  await editor.click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.insertText('output: "{{steps.greet.output}}!"\n');
  await notes.fill('Louder');
  await page.getByRole('checkbox', { name: /^Pin it/ }).uncheck();
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
  await page.getByText('A draft, begun from “v2”. It is not saved yet.').waitFor();
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

test('a browser that is offline still calls a server on the same machine', async () => {
  const { page } = await visit('/agents', { as: 'owner' });
  await page.getByRole('table').waitFor();
  await page.evaluate("window.dispatchEvent(new Event('offline'))");
  await page.getByRole('link', { name: 'Prompts' }).click();
  await page.getByRole('heading', { name: 'Agent' }).or(page.getByRole('table')).first().waitFor();
  await page.getByRole('button', { name: 'New prompt' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Written in the woods');
  await dialog.getByRole('button', { name: 'Create and write it' }).click();
  await page.waitForURL(/\/prompts\/prm_/);
});

test('a part that cannot be fetched leaves the page as it is', async () => {
  const { page, check } = await visit('/agents', { as: 'owner', intercepts: true });
  await page.getByRole('table').waitFor();
  await page.route('**/assets/command-palette-*.js', (route) => route.fulfill({ status: 404 }));
  await page.keyboard.press('ControlOrMeta+k');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('A part of this page could not be fetched.').waitFor();
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

test('after an upgrade a page that was open begins anew', async () => {
  const { page } = await visit('/agents', { as: 'owner', intercepts: true });
  await page.getByRole('table').waitFor();
  await page.evaluate('window.before = true');
  await page.route('**/assets/command-palette-*.js', (route) => route.fulfill({ status: 404 }));
  await page.route(`${service.url}/`, (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: '<script src="/assets/index-new.js"></script>',
    }),
  );
  await Promise.all([
    page.waitForEvent('load'),
    page.getByRole('button', { name: 'Search' }).click(),
  ]);
  await page.getByRole('table').waitFor();
  assert.equal(await page.evaluate('window.before'), undefined);
});

const problem = {
  error: 'Internal error',
  message: 'It broke.',
  code: 'INTERNAL',
  requestId: 'req_of_the_test',
};
