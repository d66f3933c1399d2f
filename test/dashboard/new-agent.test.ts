import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makePrompt } from '../../harness/prompts.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();

test('creates an agent with variables filled in from the version', async () => {
  const { path, promptId, versionIds } = await makePrompt(service, {
    user: 'Tell {{name}} of {{topic}}',
  });
  const { key } = await service.key();
  await service.call('PATCH', path, { key, body: { name: 'Storyteller' } });
  const { page, check } = await visit('/agents', { as: 'editor' });
  await page.getByRole('link', { name: 'New agent' }).first().click();
  await page.getByRole('heading', { name: 'New agent', level: 1 }).waitFor();
  await check();
  await page.getByRole('combobox', { name: 'Prompt' }).fill('story');
  await page.getByRole('option', { name: 'Storyteller' }).click();
  await page.waitForURL(`**/agents/new?promptId=${promptId}&promptVersionId=${versionIds[0]}`);
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Story agent');
  await page.getByRole('combobox', { name: 'Tags' }).fill('tales');
  await page.keyboard.press('Enter');
  await page.getByRole('combobox', { name: 'Type of topic' }).selectOption('Default text');
  await page.getByRole('textbox', { name: 'Default of topic' }).fill('the sea');
  await page.getByRole('textbox', { name: 'Calls per minute' }).fill('60');
  await check();
  await page.getByRole('link', { name: 'Prompts' }).click();
  await page.getByRole('heading', { name: 'Prompts', level: 1 }).waitFor();
  await page.goto('/agents/new');
  await page.getByRole('combobox', { name: 'Type of topic' }).waitFor();
  await page.getByRole('button', { name: 'Create agent' }).click();
  await page.waitForURL(/\/agents\/agt_/);
  const { body } = await service.call('GET', '/api/v1/agents?q=Story', { key });
  const [agent] = body.agents;
  assert.deepEqual(agent?.requiredVariables, ['name']);
  assert.deepEqual(agent?.defaultVariableValues, { topic: 'the sea' });
  assert.equal(agent?.rateLimits.requestsPerMinute, 60);
  assert.deepEqual(agent?.tags, ['tales']);
  // Creating the agent clears the draft.
  await page.goto('/agents/new');
  const name = page.getByRole('textbox', { name: 'Name', exact: true });
  await name.fill('Another');
  await page.getByRole('button', { name: 'Discard draft' }).click();
  assert.equal(await name.inputValue(), '');
});

test('clears the draft even if the user has left the page', async () => {
  const { promptId } = await makePrompt(service, { user: 'Hello' });
  const { page, check } = await visit(`/agents/new?promptId=${promptId}`, {
    as: 'editor',
    intercepts: true,
  });
  await page.waitForURL(/promptVersionId/);
  let held = Promise.withResolvers<void>();
  await page.route('**/api/v1/agents', async (route) => {
    if (route.request().method() === 'POST') await held.promise;
    await route.continue();
  });
  const name = page.getByRole('textbox', { name: 'Name', exact: true });
  const button = page.getByRole('button', { name: 'Create agent', disabled: false });
  const create = async (called: string) => {
    await button.waitFor();
    await name.fill(called);
    await Promise.all([
      page.waitForRequest((request) => request.method() === 'POST'),
      button.click(),
    ]);
    await page.getByRole('link', { name: 'Prompts', exact: true }).click();
    await page.getByRole('heading', { name: 'Prompts', level: 1 }).waitFor();
  };
  await create('Made elsewhere');
  held.resolve();
  const kept = `Object.keys(sessionStorage).some((key) => key.startsWith('cueline-new-agent'))`;
  while (await page.evaluate(kept)) await page.waitForTimeout(50);
  await page.getByRole('heading', { name: 'Prompts', level: 1 }).waitFor();
  held = Promise.withResolvers();
  await page.goto(`/agents/new?promptId=${promptId}`);
  // Without a draft, the agent is named after its prompt once this has loaded.
  while ((await name.inputValue()) === '') await page.waitForTimeout(50);
  assert.equal(await name.inputValue(), 'Prompt');
  // A user who returns before the response is redirected as if they had stayed.
  await create('Made on return');
  await page.goBack();
  assert.equal(await name.inputValue(), 'Made on return');
  held.resolve();
  await page.waitForURL(/\/agents\/agt_/);
  await page.getByRole('heading', { name: 'Made on return' }).waitFor();
  await check();
});

test("shows the server's message for a rejected agent", async () => {
  const { promptId } = await makePrompt(service, { user: 'Hello', model: null });
  const { page, check } = await visit(`/agents/new?promptId=${promptId}`, { as: 'owner' });
  await page.waitForURL(/promptVersionId/);
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('No model');
  await page.getByRole('button', { name: 'Create agent' }).click();
  await page.getByRole('alert').getByText('req_').waitFor();
  assert.doesNotMatch(await page.getByRole('alert').innerText(), /agentConfig/);
  await check();
});

test('viewers see that creating agents requires the editor role', async () => {
  const { page, check } = await visit('/agents/new', { as: 'viewer' });
  await page.getByRole('heading', { name: 'Creating agents requires the editor role' }).waitFor();
  await check();
});
