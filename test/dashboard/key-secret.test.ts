import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { addAgent } from '../../harness/agents.ts';
import { openDashboard } from './harness.ts';

/** A new secret stays visible, whatever else happens on the page. */

const { service, visit } = await openDashboard();
const secret = /^cue_[0-9A-Za-z]{36}$/;

test('shows the first key although the empty state disappears', async () => {
  const { ownerId } = await service.workspace();
  const { page, check } = await visit('/keys', { as: { userId: ownerId } });
  await page.getByRole('heading', { name: 'No keys yet' }).waitFor();
  await page.getByRole('button', { name: 'Create key' }).last().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('First');
  await secretStays(page, () => dialog.getByRole('button', { name: 'Create key' }).click());
  await check();
});

test("shows a rotated key although its row disappears from the agent's page", async () => {
  const agent = await addAgent(service);
  await service.key({ agentIds: [agent.agentId] });
  const { page } = await visit(`/agents/${agent.agentId}/use`, { as: 'owner' });
  await secretStays(page, () => rotate(page, 'None: the old key stops working immediately'));
});

test('shows a rotated key although its row moves to the next page', async () => {
  const { workspaceId, ownerId } = await service.workspace();
  for (let keys = 0; keys < 25; keys++) await service.key({ workspaceId, userId: ownerId });
  const { page } = await visit('/keys', { as: { userId: ownerId } });
  await secretStays(page, () => rotate(page, '1 day'));
});

test('the dialog cannot be closed while a key is being created', async () => {
  const { ownerId } = await service.workspace();
  const { page } = await visit('/keys', { as: { userId: ownerId }, intercepts: true });
  await page.getByRole('button', { name: 'Create key' }).last().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Slow');
  let send = () => {};
  const held = new Promise<void>((resolve) => {
    send = resolve;
  });
  await page.route('**/api/v1/keys', async (route) => {
    if (route.request().method() === 'POST') await held;
    await route.continue();
  });
  await dialog.getByRole('button', { name: 'Create key' }).evaluate(pressedAndEscape);
  await page.keyboard.press('Escape');
  await page.mouse.click(5, 5);
  assert.ok(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled());
  await secretStays(page, async () => send());
});

/** Presses Esc in the same task as the click, before any timer. */
async function pressedAndEscape(button: { click(): void } & EventTarget): Promise<void> {
  button.click();
  await null;
  button.dispatchEvent(Object.assign(new Event('keydown', { bubbles: true }), { key: 'Escape' }));
}

test('focuses Cancel in destructive dialogs, and returns focus to the opener', async () => {
  const { workspaceId, ownerId } = await service.workspace();
  await service.key({ workspaceId, userId: ownerId });
  const { page } = await visit('/keys', { as: { userId: ownerId } });
  const actions = page.getByRole('button', { name: /^Actions/ });
  await actions.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Revoke' }).focus();
  await page.keyboard.press('Enter');
  await focused(page, 'Cancel');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await focused(page, await actions.getAttribute('aria-label'));
});

async function rotate(page: Page, grace: string): Promise<void> {
  await page
    .getByRole('button', { name: /^Actions/ })
    .last()
    .click();
  await page.getByRole('menuitem', { name: 'Rotate' }).click();
  await page.getByRole('dialog').getByLabel('Grace period').selectOption(grace);
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
}

/** The secret stays visible after the list has been refetched. */
async function secretStays(page: Page, issue: () => Promise<void>): Promise<void> {
  let issued = false;
  const read = page.waitForResponse((response) => {
    const { pathname } = new URL(response.url());
    const method = response.request().method();
    if (method === 'POST' && pathname.includes('/keys')) issued = true;
    return issued && method === 'GET' && pathname.endsWith('/keys');
  });
  const [response] = await Promise.all([read, issue()]);
  const { keys } = (await response.json()) as { keys: { start: string }[] };
  await page.locator('td').getByText(`${keys[0]?.start}…`).waitFor();
  await page.getByText(secret).waitFor();
}

async function focused(page: Page, name: string | null): Promise<void> {
  await page
    .locator(':focus')
    .and(page.getByRole('button', { name: name ?? '', exact: true }))
    .waitFor();
}
