import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeAgent, makePrompt } from '../../harness/prompts.ts';
import { countClicks } from './count-clicks.ts';
import { openDashboard } from './harness.ts';

/** Which agents use a version, and how all of them get another one. */

const { service, visit } = await openDashboard();
const { key } = await service.key();
const pinOf = async ({ path }: { readonly path: string }) =>
  (await service.call('GET', path, { key })).body.promptVersionId;

test('pins all agents of a version to another one in 3 clicks, and names those that failed', async () => {
  const prompt = await makePrompt(
    service,
    { user: 'Hello {{name}}' },
    { user: 'Hello {{name}} and {{other}}' },
  );
  const fits = { requiredVariables: ['name'], optionalVariables: ['other'] };
  const visibility = 'public';
  const first = await makeAgent(service, prompt, { agentName: 'Fits', visibility, ...fits });
  const last = await makeAgent(service, prompt, { agentName: 'Lacks', visibility });
  const [before, after] = prompt.versionIds;
  const { page, check } = await visit(`/prompts/${prompt.promptId}/versions`, { as: 'editor' });
  const clicks = await countClicks(page);
  await page.getByRole('button', { name: 'Agents of v1' }).click();
  const dialog = page.getByRole('dialog', { name: 'Agents that use v1' });
  await dialog.getByRole('link', { name: 'Fits' }).waitFor();
  await dialog.getByRole('link', { name: 'Lacks' }).waitFor();
  await dialog.getByLabel('Pin all to').selectOption({ label: 'v2' });
  await dialog.getByRole('textbox', { name: 'User template of v2' }).waitFor();
  await check({ inDarkMode: true });
  assert.deepEqual([await pinOf(first), await pinOf(last)], [before, before]);
  await dialog.getByRole('button', { name: 'Pin all to v2' }).click();
  await dialog.getByRole('alert').getByText('1 of 2 failed').waitFor();
  assert.ok((await clicks()) <= 3);
  await dialog
    .getByRole('alert')
    .getByText(/^Lacks: .*other/)
    .waitFor();
  await dialog.getByRole('link', { name: 'Fits' }).waitFor({ state: 'hidden' });
  await check();
  assert.deepEqual([await pinOf(first), await pinOf(last)], [after, before]);
});

test('a viewer sees the agents of a version, and cannot pin', async () => {
  const prompt = await makePrompt(service, { user: 'Hi' }, { user: 'Hello' });
  const agent = await makeAgent(service, prompt, { agentName: 'Seen', visibility: 'public' });
  const { page, check } = await visit(`/prompts/${prompt.promptId}/versions`, { as: 'viewer' });
  await page.getByRole('button', { name: 'Agents of v2' }).click();
  await page.getByRole('dialog').getByText('No agent that you can see').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Agents of v1' }).click();
  const link = page.getByRole('dialog').getByRole('link', { name: 'Seen' });
  await link.waitFor();
  assert.equal(await page.getByLabel('Pin all to').count(), 0);
  await check();
  await link.click();
  await page.waitForURL(`**/agents/${agent.agentId}`);
});
