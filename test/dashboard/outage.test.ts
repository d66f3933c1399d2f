import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { addAgent } from '../harness/agents.ts';
import { openDashboard } from './harness.ts';

/** What happens to a page when the server, a part of the page or the network is gone for a while. */

const { service, visit } = await openDashboard();
await addAgent(service);

test('a list stays where it cannot be read anew, and comes up to date again', async () => {
  const { page, check } = await visit('/agents', { as: 'owner' });
  await page.getByRole('link', { name: 'Agent', exact: true }).first().waitFor();
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
  const { page, check } = await visit('/agents', { as: 'owner' });
  await page.getByRole('table').waitFor();
  await page.route('**/assets/palette-*.js', (route) => route.fulfill({ status: 404 }));
  await page.keyboard.press('ControlOrMeta+k');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('A part of this page could not be fetched.').waitFor();
  assert.ok(await page.getByRole('table', { includeHidden: true }).isVisible());
  await check();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await page.keyboard.press('ControlOrMeta+k');
  await page.unroute('**/assets/palette-*.js');
  await Promise.all([
    page.waitForEvent('load'),
    dialog.getByRole('button', { name: 'Try again' }).click(),
  ]);
  await page.getByRole('table').waitFor();
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByPlaceholder('Search pages, agents').waitFor();
});

test('after an upgrade a page that was open begins anew', async () => {
  const { page } = await visit('/agents', { as: 'owner' });
  await page.getByRole('table').waitFor();
  await page.evaluate('window.before = true');
  await page.route('**/assets/palette-*.js', (route) => route.fulfill({ status: 404 }));
  await page.route(`${service.url}/`, (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: '<script src="/assets/index-new.js"></script>',
    }),
  );
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('ControlOrMeta+k')]);
  await page.getByRole('table').waitFor();
  assert.equal(await page.evaluate('window.before'), undefined);
});

const problem = {
  error: 'Internal error',
  message: 'It broke.',
  code: 'INTERNAL',
  requestId: 'req_of_the_test',
};

/** The window is looked at again, as after another one: what is old by then is read anew. */
async function lookAgain(page: Page): Promise<void> {
  await page.clock.install();
  await page.clock.fastForward(60_000);
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
}
