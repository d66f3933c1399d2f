import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { addAgent, run } from '../../harness/agents.ts';
import { openDashboard } from './harness.ts';

/** Keyboard focus, with animations as most users have them. */

const reducedMotion = 'no-preference';

const { service, visit } = await openDashboard();

test('the skip link comes first and moves focus past the navigation', async () => {
  const { page } = await visit('/agents', { as: 'owner' });
  await page.getByRole('heading', { name: 'Agents', exact: true }).waitFor();
  await page.keyboard.press('Tab');
  await hasFocus(page, page.getByRole('link', { name: 'Skip to content' }));
  await page.keyboard.press('Enter');
  await hasFocus(page, page.getByRole('main'));
});

test('navigation by link or command palette focuses the heading', async () => {
  const { page, check } = await visit('/agents', { as: 'owner' });
  await page.getByRole('heading', { name: 'Agents', exact: true }).waitFor();
  await page.getByRole('link', { name: 'Executions' }).click();
  await hasFocus(page, page.getByRole('heading', { name: 'Executions', exact: true }));
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByPlaceholder('Search pages, agents').fill('prom');
  await page.getByRole('button', { name: 'Prompts', exact: true }).last().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/prompts');
  await hasFocus(page, page.getByRole('heading', { name: 'Prompts', exact: true }));
  await check();
});

test('a page that was loading leaves the focus in a dialog that was opened meanwhile', async () => {
  const { page, check } = await visit('/agents', { as: 'owner', intercepts: true });
  await page.getByRole('heading', { name: 'Agents', exact: true }).waitFor();
  const search = page.getByPlaceholder('Search pages, agents');
  await page.keyboard.press('ControlOrMeta+k');
  await search.waitFor();
  const held = Promise.withResolvers<void>();
  await page.route('**/assets/workflows-page-*.js', async (route) => {
    await held.promise;
    await route.continue();
  });
  await search.fill('workflows');
  await page.getByRole('button', { name: 'Workflows', exact: true }).last().waitFor();
  await page.keyboard.press('Enter');
  await search.waitFor({ state: 'detached' });
  await page.keyboard.press('ControlOrMeta+k');
  await search.fill('prompts');
  const heading = page.getByRole('heading', { name: 'Workflows', exact: true });
  assert.equal(await heading.count(), 0);
  held.resolve();
  await heading.waitFor();
  await hasFocus(page, search);
  await check();
});

test('switching tabs keeps the focus on the tab', async () => {
  const agent = await addAgent(service);
  const { page } = await visit(`/agents/${agent.agentId}`, { as: 'owner' });
  const tab = page.getByRole('link', { name: 'Use it' });
  await tab.focus();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/use');
  await page.getByRole('heading', { name: 'Call this agent' }).waitFor();
  await hasFocus(page, tab);
});

test('closing a record returns focus to its row, closing a dialog to its button', async () => {
  const agent = await addAgent(service);
  const { key } = await service.key();
  await run(service, agent, key);
  await run(service, agent, key);
  const { page } = await visit(`/agents/${agent.agentId}/history`, {
    as: 'editor',
    reducedMotion,
  });
  const row = page.getByRole('row').last().getByRole('link');
  await row.focus();
  await page.keyboard.press('Enter');
  const again = page.getByRole('button', { name: 'Run again' });
  await again.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Run Agent again' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await hasFocus(page, again);
  await page.keyboard.press('Escape');
  await page.getByRole('complementary', { name: 'Execution' }).waitFor({ state: 'detached' });
  await hasFocus(page, row);
});

test('a form whose values are refused puts the focus into the field that is wrong', async () => {
  const { page, check } = await visit('/settings/providers', { as: 'owner', reducedMotion });
  await page.getByRole('button', { name: 'Set price' }).click();
  const dialog = page.getByRole('dialog');
  for (const [label, text] of [
    ['Model', 'no-provider'],
    ['Input', '1'],
    ['Output', '1'],
  ] as const)
    await dialog.getByLabel(label).fill(text);
  await dialog.getByRole('button', { name: 'Set price' }).click();
  await dialog.getByRole('alert').waitFor();
  await hasFocus(page, dialog.getByLabel('Model'));
  await check();
});

test('what loads on its first press returns focus to its button', async () => {
  const { page, check } = await visit('/analytics', { as: 'owner', reducedMotion });
  for (const [button, popup] of [
    [page.getByRole('button', { name: 'owner' }), page.getByRole('menu')],
    [page.getByRole('button', { name: 'Custom' }), page.getByRole('dialog')],
  ] as const) {
    await button.focus();
    assert.equal(await button.getAttribute('aria-expanded'), 'false');
    await page.keyboard.press('Enter');
    await popup.waitFor();
    await popup.locator(':focus').waitFor({ state: 'attached' });
    assert.equal(await button.getAttribute('aria-expanded'), 'true');
    await page.keyboard.press('Escape');
    await popup.waitFor({ state: 'hidden' });
    await hasFocus(page, button);
  }
  await check();
  await page.keyboard.press('?');
  await page.getByRole('checkbox', { name: 'Enable single-key shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await hasFocus(page, page.getByRole('button', { name: 'Custom' }));
});

test('a menu that fails to load leaves its button with the focus', async () => {
  const { page, check } = await visit('/agents', { as: 'owner', reducedMotion, intercepts: true });
  await page.route('**/assets/account-menu-*.js', (route) => route.fulfill({ status: 404 }));
  const button = page.getByRole('button', { name: 'owner' });
  await button.focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Could not open' });
  await dialog.getByText('Part of this page could not be loaded.').waitFor();
  await check();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await hasFocus(page, button);
});

test('the menu of a narrow screen returns focus, but leaves it on the heading after navigation', async () => {
  const viewport = { width: 390, height: 844 };
  const { page, check } = await visit('/agents', { as: 'owner', reducedMotion, viewport });
  const button = page.getByRole('button', { name: 'Open menu' });
  const menu = page.getByRole('dialog', { name: 'Cueline' });
  await button.focus();
  await page.keyboard.press('Enter');
  await hasFocus(page, menu.locator(':focus'));
  await page.keyboard.press('Escape');
  await menu.waitFor({ state: 'hidden' });
  await hasFocus(page, button);
  await page.keyboard.press('Enter');
  await menu.getByRole('link', { name: 'Prompts' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/prompts');
  await menu.waitFor({ state: 'hidden' });
  await hasFocus(page, page.getByRole('heading', { name: 'Prompts', exact: true }));
  await check();
});

test('single-key shortcuts can be disabled', async () => {
  const { page, check } = await visit('/agents', { as: 'owner', reducedMotion });
  await page.getByRole('heading', { name: 'Agents', exact: true }).waitFor();
  await page.keyboard.press('?');
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await sheet.getByRole('checkbox').uncheck();
  await check();
  await page.keyboard.press('Escape');
  await sheet.waitFor({ state: 'hidden' });
  await page.keyboard.press('g');
  await page.keyboard.press('p');
  await page.keyboard.press('ControlOrMeta+Shift+k');
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByPlaceholder('Search pages, agents').waitFor();
  assert.match(page.url(), /\/agents$/);
});

test('a chosen filter has the focus, and one that is removed leaves it to the others', async () => {
  const { page, check } = await visit('/history', { as: 'owner', reducedMotion });
  await page.getByRole('button', { name: 'Filter', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Tag', exact: true }).focus();
  await page.keyboard.press('Enter');
  await hasFocus(page, page.getByRole('textbox', { name: 'Tag', exact: true }));
  await page.keyboard.type('beta');
  await page.keyboard.press('Enter');
  const chip = page.getByRole('button', { name: 'Remove filter Tag beta' });
  await chip.waitFor();
  await hasFocus(page, page.getByRole('button', { name: 'Filter', exact: true }));
  await check();
  await chip.focus();
  await page.keyboard.press('Enter');
  await chip.waitFor({ state: 'detached' });
  await hasFocus(page, page.getByRole('button', { name: 'Time: Any time' }));
  for (const [path, first] of [
    ['/history?status=failed', page.getByRole('button', { name: 'Time: Any time' })],
    ['/settings/audit?subject=x', page.getByRole('combobox', { name: 'User' })],
    ['/analytics?tag=beta', page.getByRole('combobox', { name: 'Agent' })],
  ] as const) {
    await page.goto(path);
    const clear = page.getByRole('search').getByRole('button', { name: 'Clear filters' });
    await clear.focus();
    await page.keyboard.press('Enter');
    await clear.waitFor({ state: 'detached' });
    await hasFocus(page, first);
  }
  await page.goto('/agents?tag=beta');
  const pill = page.getByRole('button', { name: 'Remove filter Tag beta' });
  await pill.focus();
  await page.keyboard.press('Enter');
  await hasFocus(page, page.getByRole('combobox', { name: 'Stage' }));
});

async function hasFocus(page: Page, element: Locator): Promise<void> {
  await page.locator(':focus').and(element).waitFor();
}
