import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent, run } from '../../harness/agents.ts';
import { makeAgent, makePrompt } from '../../harness/prompts.ts';
import { ModelFailure, type TestConnection } from '../../src/core/model/model-port.ts';
import { countClicks } from './count-clicks.ts';
import { loaded, openDashboard } from './harness.ts';

/** Tasks of a new user, from the first page on, each with its clicks. Others are tested with their pages. */

const testConnection: TestConnection = async () => undefined;
const { service, visit } = await openDashboard({ testConnection });
const { key } = await service.key();

test('rolls back to the previous version in 4 clicks', async () => {
  const prompt = await makePrompt(service, { user: 'Hello {{name}}' }, { user: 'Bye {{name}}' });
  const visibility = 'public';
  const agent = await makeAgent(service, prompt, { agentName: 'Rolled back', visibility });
  const [before, after] = prompt.versionIds;
  await service.call('PATCH', agent.path, { key, body: { promptVersionId: after } });
  const { page, check } = await visit('/agents', { as: 'editor' });
  const clicks = await countClicks(page);
  await page.getByRole('link', { name: 'Rolled back' }).click();
  await page.getByRole('link', { name: 'Versions' }).click();
  await page.getByRole('button', { name: 'Roll back to v1' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Roll back to v1?' });
  await dialog.getByRole('textbox', { name: 'User template of v1' }).waitFor();
  await check();
  await dialog.getByRole('button', { name: 'Roll back to v1' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await clicks(), 4);
  const { body } = await service.call('GET', agent.path, { key });
  assert.equal(body.promptVersionId, before);
});

test('invites a viewer in 3 clicks', async () => {
  const { page, check } = await visit('/', { as: 'owner' });
  const clicks = await countClicks(page);
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('link', { name: 'Members' }).click();
  await page.getByLabel('Email').fill('reader@example.com');
  await page.getByLabel('Role', { exact: true }).selectOption('viewer');
  await page.getByRole('button', { name: 'Create link' }).click();
  await page.getByText('anyone who opens it can join as viewer').waitFor();
  // Choosing the role is not a press of the pointer here, but one for most people.
  assert.equal(await clicks(), 3);
  await check();
  const { body } = await service.call('GET', '/api/v1/invitations', { user: service.ownerId });
  assert.deepEqual(
    body.invitations.map((one: { email: string; role: string }) => [one.email, one.role]),
    [['reader@example.com', 'viewer']],
  );
});

test('fixes a provider whose credential was refused, in 4 clicks from the failure', async () => {
  const provider = { kind: 'openai-compatible', apiKey: 'sk-old', baseURL: 'https://a.example/v1' };
  const user = service.ownerId;
  await service.call('PUT', '/api/v1/providers/acme', { user, body: provider });
  const agent = await addAgent(service, { model: 'acme/small', config: { maxAttempts: 1 } });
  service.models.script(new ModelFailure('PROVIDER_AUTH', 'The key was refused.'));
  await run(service, agent, key);
  const { page, check } = await visit('/', { as: 'owner' });
  const clicks = await countClicks(page);
  const failures = page.getByRole('region', { name: 'Recent failures' });
  const failure = failures.getByRole('listitem').filter({ hasText: 'PROVIDER_AUTH' });
  // Cards above the list grow with what they show. A press that misses a moving link is repeated, and counted again.
  await loaded(page);
  await failure.getByRole('link').last().click();
  await page.getByRole('link', { name: 'Replace the credential of acme' }).click();
  const dialog = page.getByRole('dialog', { name: 'Edit acme' });
  await dialog.getByLabel('API key').fill('sk-new');
  await check({ inDarkMode: true });
  await dialog.getByRole('button', { name: 'Save acme' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Test acme' }).click();
  await page.getByText(/^Connected/).waitFor();
  assert.equal(await clicks(), 4);
});

test('a record whose provider is missing leads to the form that adds it', async () => {
  const agent = await addAgent(service, { model: 'azure/small', config: { maxAttempts: 1 } });
  service.models.script(new ModelFailure('PROVIDER_NOT_CONFIGURED', 'No such provider.'));
  const { executionId } = await run(service, agent, key);
  const path = `/history/${agent.agentId}/${executionId}`;
  const { page, check } = await visit(path, { as: 'owner' });
  await page.getByRole('link', { name: 'Add the provider azure' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a provider' });
  await dialog.getByRole('button', { name: 'Save azure' }).waitFor();
  assert.equal(await dialog.getByLabel('Type').inputValue(), 'azure');
  await check();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.waitForURL(/providers$/);
  const editor = await visit(path, { as: 'editor' });
  await editor.page.getByText('The workspace has no provider with this name.').waitFor();
  assert.equal(await editor.page.getByRole('link', { name: 'Add the provider azure' }).count(), 0);
});
