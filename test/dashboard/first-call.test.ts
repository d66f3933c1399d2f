import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { addAgent } from '../../harness/agents.ts';
import { countClicks } from './count-clicks.ts';
import { openDashboard } from './harness.ts';

/** The way from an empty workspace to the first call. */

const { service, visit } = await openDashboard();
const skip = spawnSync('curl', ['--version']).status !== 0 && 'curl is not installed';

test('makes the first call of a new agent in at most 8 clicks', { skip }, async () => {
  const { page, check } = await visit('/prompts', { as: 'editor' });
  const clicks = await countClicks(page);
  await page.getByRole('button', { name: 'New prompt' }).first().click();
  await page.getByRole('dialog').getByLabel('Name').fill('Answer questions');
  await page.keyboard.press('Enter');
  // The editor of a new prompt has the focus.
  await page.locator('.cm-editor.cm-focused').waitFor();
  await page.keyboard.type('Answer {{question}}');
  await page.getByRole('combobox', { name: 'Model' }).click();
  await page.keyboard.type('cueline/echo');
  await page.getByRole('button', { name: 'Save version' }).click();
  await page.getByRole('link', { name: 'Create agent' }).click();
  await page.waitForURL(/promptVersionId/);
  const name = page.getByRole('textbox', { name: 'Name', exact: true });
  assert.equal(await name.inputValue(), 'Answer questions');
  await page.getByRole('button', { name: 'Create agent' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('heading', { name: 'Deploy and get a key' }).waitFor();
  await check({ inDarkMode: true });
  await dialog.getByRole('button', { name: 'Deploy and create key' }).click();
  await dialog.getByText('Waiting for the first call.').waitFor();
  await check({ inDarkMode: true });
  const command = await commandOf(page);
  await dialog.getByRole('button', { name: 'Copy curl' }).click();
  assert.ok((await clicks()) <= 8, `${await clicks()} clicks`);

  const printed = await printedBy(command);
  assert.match(printed, /"outputText":"Answer your question"/);
  await dialog.getByText('Your first call succeeded').waitFor();
  // Closes the tooltip of the copy button.
  await page.mouse.move(0, 0);
  await page.getByRole('tooltip').waitFor({ state: 'detached' });
  await check({ inDarkMode: true });
  for (const language of ['TypeScript', 'Python', 'MCP']) {
    await dialog.getByText(language, { exact: true }).click();
    assert.match(await commandOf(page), /cue_\w{36}/, language);
  }
  await dialog.getByRole('button', { name: 'Done' }).click();
  assert.match(await commandOf(page), /\$CUELINE_KEY/);
  assert.doesNotMatch(await page.content(), /cue_\w{36}/);
});

test('a key issued for an agent ends in the same dialog', { skip }, async () => {
  const agent = await addAgent(service, { stage: 'Paused', apiEnabled: false });
  const { page, check } = await visit(`/agents/${agent.agentId}/use`, { as: 'editor' });
  await page.getByRole('button', { name: 'Create key' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Laptop');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByText('Calls fail with 403 until the agent is deployed').waitFor();
  await check();
  const command = await commandOf(page);
  assert.match(await printedBy(command), /AGENT_NOT_ACTIVE/);
  await dialog.getByText('Your call arrived and ended').waitFor();
  await dialog.getByText('unauthorized').waitFor();
  await check();
  await dialog.getByRole('button', { name: 'Deploy' }).click();
  await dialog.getByText('Calls fail with 403').waitFor({ state: 'detached' });
  assert.match(await printedBy(command), /"outputText":"Hello your name"/);
  await dialog.getByText('Your first call succeeded').waitFor();
});

test('a refused deployment keeps the dialog open with the message', async () => {
  const agent = await addAgent(service, { stage: 'Draft', apiEnabled: false });
  const { page, check } = await visit(`/agents/${agent.agentId}/use?start=true`, {
    as: 'editor',
    intercepts: true,
  });
  const dialog = page.getByRole('dialog');
  await page.route('**/api/v1/keys', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ status: 400, json: { message: 'No more keys.', code: 'INVALID_REQUEST' } })
      : route.continue(),
  );
  await dialog.getByRole('button', { name: 'Deploy and create key' }).click();
  await dialog.getByRole('alert').getByText('No more keys.').waitFor();
  await check();
  await page.unroute('**/api/v1/keys');
  // The agent is deployed by now.
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByText('Waiting for the first call.').waitFor();
});

/** The code that is shown, in the dialog if one is open. */
async function commandOf(page: Page): Promise<string> {
  const dialog = page.getByRole('dialog');
  const place = (await dialog.count()) > 0 ? dialog : page;
  return place.getByRole('figure').last().locator('code').innerText();
}

/** What the command prints in a terminal. */
async function printedBy(command: string): Promise<string> {
  const shell = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  for await (const chunk of shell.stdout) printed += chunk;
  return printed;
}
