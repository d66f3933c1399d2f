import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { addAgent } from '../../harness/agents.ts';
import { makeAgent, makePrompt, move } from '../../harness/prompts.ts';
import { sql } from '../../src/db/sql.ts';
import { openDashboard, settled } from './harness.ts';

const { service, visit } = await openDashboard();

test('saves only the changed settings', async () => {
  const agent = await addAgent(service, { defaultVariableValues: { word: [1, 2] } });
  const { page, check } = await visit(`/agents/${agent.agentId}/settings`, { as: 'editor' });
  await page.getByRole('textbox', { name: 'Calls per hour' }).fill('500');
  await page
    .getByRole('textbox', { name: /^Allowed browser origins/ })
    .fill('https://app.example.com');
  await check();
  const sent = page.waitForRequest((request) => request.method() === 'PATCH');
  await page.getByRole('button', { name: 'Save changes' }).click();
  assert.deepEqual(Object.keys((await sent).postDataJSON()).toSorted(), [
    'allowedOrigins',
    'rateLimits',
  ]);
  await page.locator('form button[type=submit]:disabled:not([data-loading])').waitFor();
  await page.getByRole('textbox', { name: 'Default of word' }).fill('[1');
  await page.getByText('Not valid JSON.').waitFor();
  await check();
  await page.getByRole('textbox', { name: 'Default of word' }).fill('[12345678901234567890]');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('The number 12345678901234567890 would lose precision').waitFor();
});

test('the limit of cost is saved and shown', async () => {
  const agent = await addAgent(service);
  const { page, check } = await visit(`/agents/${agent.agentId}/settings`, { as: 'editor' });
  await page.getByRole('textbox', { name: 'Max cost per execution (USD)' }).fill('0.05');
  const sent = page.waitForRequest((request) => request.method() === 'PATCH');
  await page.getByRole('button', { name: 'Save changes' }).click();
  assert.equal((await sent).postDataJSON().agentConfig.maxCostUSD, 0.05);
  await page.locator('form button[type=submit]:disabled:not([data-loading])').waitFor();
  await page.goto(`${service.url}/agents/${agent.agentId}`);
  await page.getByText('$0.05').waitFor();
  await check();
});

test('fallback models replace the model and are shown again', async () => {
  const agent = await addAgent(service, { config: { model: 'a/one' } });
  const { page, check } = await visit(`/agents/${agent.agentId}/settings`, { as: 'editor' });
  const field = page.getByRole('combobox', { name: 'Fallback models' });
  for (const model of ['a/two', 'a/three']) {
    await field.fill(model);
    await page.keyboard.press('Enter');
  }
  const sent = page.waitForRequest((request) => request.method() === 'PATCH');
  await page.getByRole('button', { name: 'Save changes' }).click();
  const { agentConfig } = (await sent).postDataJSON();
  assert.deepEqual(agentConfig.models, ['a/one', 'a/two', 'a/three']);
  await page.locator('form button[type=submit]:disabled:not([data-loading])').waitFor();
  assert.equal(
    await page.getByRole('combobox', { name: 'Model', exact: true }).inputValue(),
    'a/one',
  );
  await page.getByText('a/two', { exact: true }).waitFor();
  await page.getByText('a/three', { exact: true }).waitFor();
  await check();
});

test('aliases and version aliases are edited and shown', async () => {
  const { agentId } = await addAgent(service, { slug: 'named' });
  const { page, check } = await visit(`/agents/${agentId}/settings`, { as: 'editor' });
  const add = async (name: string, texts: readonly string[]) => {
    for (const text of texts) {
      await page.getByRole('combobox', { name, exact: true }).fill(text);
      await page.keyboard.press('Enter');
    }
  };
  await add('Aliases', ['pmpt_1', 'Old:name']);
  await add('Version aliases', ['7=v1', '8=v9']);
  await check();
  const save = page.getByRole('button', { name: 'Save changes' });
  await save.click();
  await page.getByText('must be the label of a version of the prompt').first().waitFor();
  await page.getByRole('combobox', { name: 'Version aliases' }).press('Backspace');
  const sent = page.waitForRequest((request) => request.method() === 'PATCH');
  await save.click();
  assert.deepEqual((await sent).postDataJSON(), {
    ...{ aliases: ['pmpt_1', 'Old:name'], versionAliases: { 7: 'v1' } },
  });
  await page.locator('form button[type=submit]:disabled:not([data-loading])').waitFor();
  await openTab(page, 'Overview');
  await page.getByText('pmpt_1, Old:name').waitFor();
  await page.getByText('7=v1').waitFor();
  await check();
});

test('keeps unsaved settings across pages', async () => {
  const agent = await addAgent(service);
  const { page } = await visit(`/agents/${agent.agentId}/settings`, { as: 'editor' });
  const [description, save] = [
    page.getByRole('textbox', { name: 'Description' }),
    page.getByRole('button', { name: 'Save changes' }),
  ];
  const lookElsewhere = async () => {
    await openTab(page, 'Overview');
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    await openTab(page, 'Settings');
    await description.waitFor();
  };
  await description.fill('Half a thought');
  await lookElsewhere();
  assert.equal(await description.inputValue(), 'Half a thought');
  await save.click();
  await page.locator('form button[type=submit]:disabled:not([data-loading])').waitFor();
  await description.fill('Another');
  await page.getByRole('button', { name: 'Discard' }).click();
  await lookElsewhere();
  assert.equal(await description.inputValue(), 'Half a thought');
  assert.ok(await save.isDisabled());
});

test('a user who lost the editor role sees the agent, not their draft', async () => {
  const agent = await addAgent(service);
  const userId = await service.member('editor');
  const { page, check } = await visit(`/agents/${agent.agentId}/settings`, { as: { userId } });
  const description = page.getByRole('textbox', { name: 'Description' });
  await description.fill('Half a thought');
  await page.getByRole('button', { name: 'Discard' }).waitFor();
  const setRole = (role: string) =>
    sql`update members set role = ${role} where user_id = ${userId}`.execute(service.db);
  await setRole('viewer');
  await page.reload();
  await page.locator('textarea:disabled').first().waitFor();
  assert.equal(await description.inputValue(), '');
  // axe skips disabled fields.
  const project = page.getByRole('textbox', { name: 'Project' });
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
    await settled(page);
    const look = await project.evaluate((field) => {
      const { body, defaultView: window } = field.ownerDocument;
      const look = window?.getComputedStyle(field);
      return {
        opacity: look?.opacity,
        isText: look?.color === window?.getComputedStyle(body).color,
      };
    });
    assert.deepEqual(look, { opacity: '1', isText: true }, colorScheme);
  }
  await check();
  await setRole('editor');
  await page.reload();
  assert.equal(await description.inputValue(), 'Half a thought');
});

test('keeps edits made during a save for the next save', async () => {
  const agent = await addAgent(service);
  const { page } = await visit(`/agents/${agent.agentId}/settings`, {
    as: 'editor',
    intercepts: true,
  });
  const { promise: typed, resolve: go } = Promise.withResolvers<void>();
  await page.route(`**/api/v1/agents/${agent.agentId}`, async (route) => {
    if (route.request().method() === 'PATCH') await typed;
    await route.continue();
  });
  const save = page.getByRole('button', { name: 'Save changes' });
  const patch = () => page.waitForRequest((request) => request.method() === 'PATCH');
  await page.getByRole('textbox', { name: 'Project' }).fill('First');
  await Promise.all([patch(), save.click()]);
  await page.getByRole('textbox', { name: 'Description' }).fill('Typed meanwhile');
  go();
  const sent = patch();
  await page.locator('form button[type=submit]:enabled:not([data-loading])').waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Project' }).inputValue(), 'First');
  await save.click();
  assert.deepEqual((await sent).postDataJSON(), { description: 'Typed meanwhile' });
});

test('rejects a save that would overwrite a concurrent change', async () => {
  const agent = await addAgent(service);
  const { page, check } = await visit(`/agents/${agent.agentId}/settings`, { as: 'owner' });
  await page.getByRole('textbox', { name: 'Project' }).fill('Mine');
  const { key } = await service.key();
  await service.call('PATCH', agent.path, { key, body: { project: 'Theirs' } });
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByRole('alert').getByText('req_').waitFor();
  await check();
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByRole('alert').waitFor({ state: 'detached' });
  assert.equal(await page.getByRole('textbox', { name: 'Project' }).inputValue(), 'Theirs');
});

test('rebases a draft on concurrent changes to other fields, and fails on conflicts', async () => {
  const agent = await addAgent(service);
  const { page } = await visit(`/agents/${agent.agentId}/settings`, { as: 'owner' });
  const { key } = await service.key();
  const project = page.getByRole('textbox', { name: 'Project' });
  const description = page.getByRole('textbox', { name: 'Description' });
  await project.fill('Mine');
  await page.getByRole('button', { name: 'Discard' }).waitFor();
  await service.call('PATCH', agent.path, { key, body: { description: 'Theirs' } });
  await page.reload();
  assert.equal(await project.inputValue(), 'Mine');
  assert.equal(await description.inputValue(), 'Theirs');
  await service.call('PATCH', agent.path, { key, body: { project: 'Theirs' } });
  await page.reload();
  assert.equal(await project.inputValue(), 'Mine');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByRole('alert').getByText('req_').waitFor();
  const { body } = await service.call('GET', agent.path, { key });
  assert.equal(body.project, 'Theirs');
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByRole('alert').waitFor({ state: 'detached' });
  assert.equal(await project.inputValue(), 'Theirs');
});

test('deletes an agent after confirmation', async () => {
  const prompt = await makePrompt(service, { user: 'Hello' });
  const agent = await makeAgent(service, prompt, { visibility: 'public', agentName: 'Gone soon' });
  await move(service, agent, 'enable-api');
  const { page, check } = await visit(agentPage(agent), { as: 'editor' });
  await openTab(page, 'Settings');
  await page.getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete Gone soon?' });
  await dialog.getByText('fail with 404').waitFor();
  await check();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.waitForURL('**/agents');
  const { key } = await service.key();
  assert.equal((await service.call('GET', agent.path, { key })).status, 404);
  // The back button shows no cached data either.
  await page.goBack();
  await page.waitForURL(`**${agentPage(agent)}`);
  await page.getByRole('alert').getByText('req_').waitFor();
});

/** The main navigation has an Overview and a Settings link too. */
async function openTab(page: Page, name: 'Overview' | 'Settings'): Promise<void> {
  await page.getByRole('navigation', { name: 'Agent' }).getByRole('link', { name }).click();
}

const agentPage = ({ agentId }: { readonly agentId: string }) => `/agents/${agentId}`;
