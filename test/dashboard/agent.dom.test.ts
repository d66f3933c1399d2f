import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { makeAgent, makePrompt } from '../../harness/prompts.ts';
import { openPages } from './in-dom.ts';

const { service, visit } = await openPages();

test('viewers see no lifecycle actions', async () => {
  const agent = await addAgent(service);
  const { page } = await visit(`/agents/${agent.agentId}`, { as: 'viewer' });
  await page.getByRole('heading', { name: 'Lifecycle' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Pause' }).count(), 0);
});

test('a stage is moved to, and a version is rolled back to', async () => {
  const prompt = await makePrompt(service, { user: 'Hello' }, { user: 'Bye' });
  const agent = await makeAgent(service, prompt, { visibility: 'public' });
  const { key } = await service.key();
  const promptVersionId = prompt.versionIds[1];
  await service.call('PATCH', agent.path, { key, body: { promptVersionId } });
  for (const action of ['enable-api', 'deploy'])
    await service.call('POST', `${agent.path}/lifecycle`, { key, body: { action } });
  const { page } = await visit(`/agents/${agent.agentId}`, { as: 'editor' });
  await page.getByRole('button', { name: 'Move to Testing' }).click();
  const dialog = page.getByRole('dialog', { name: 'Move this agent to Testing?' });
  await dialog.getByText('The pinned version stays.').waitFor();
  await dialog.getByRole('button', { name: 'Move to Testing' }).click();
  await dialog.waitFor({ state: 'detached' });
  const versions = await visit(`/agents/${agent.agentId}/versions`, { as: 'editor' });
  await versions.page.getByRole('button', { name: 'Roll back to v1' }).first().click();
  const pin = versions.page.getByRole('dialog', { name: 'Roll back to v1?' });
  await pin.getByRole('button', { name: 'Roll back to v1' }).click();
  await pin.waitFor({ state: 'detached' });
  const { body } = await service.call('GET', agent.path, { key });
  assert.deepEqual([body.status, body.promptVersionLabel], ['Testing', 'v1']);
});
