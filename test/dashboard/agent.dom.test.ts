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

test('a deployed agent begins with what it does, another one with its next stage', async () => {
  const prompt = await makePrompt(service, { user: 'Hello' });
  const agent = await makeAgent(service, prompt, { visibility: 'public' });
  const { key } = await service.key();
  const titles = async () => {
    const { page } = await visit(`/agents/${agent.agentId}`, { as: 'viewer' });
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    await page.getByRole('heading', { name: 'Lifecycle' }).waitFor();
    const headings = page.getByRole('main').getByRole('heading');
    const all: string[] = [];
    for (let n = 0; n < (await headings.count()); n++) all.push(await headings.nth(n).innerText());
    return all.filter((title) => title === 'Activity' || title === 'Lifecycle');
  };
  assert.deepEqual(await titles(), ['Lifecycle', 'Activity']);
  for (const action of ['enable-api', 'deploy'])
    await service.call('POST', `${agent.path}/lifecycle`, { key, body: { action } });
  assert.deepEqual(await titles(), ['Activity', 'Lifecycle']);
});

test('an agent and a key show why calls were refused', async () => {
  const agent = await addAgent(service, { slug: 'refusing' });
  const { key } = await service.key();
  for (const body of [{}, {}, { variables: { name: 'x' }, secret: 'caller text' }])
    await service.call('POST', `${agent.path}/execute`, { key, body });
  const { page, check } = await visit(`/agents/${agent.agentId}`, { as: 'viewer' });
  const card = page.getByRole('region', { name: 'Refused calls', exact: true });
  const row = card.getByRole('row').filter({ hasText: 'MISSING_VARIABLES' });
  await row.getByText('Required variables are missing: name.').waitFor();
  await row.getByRole('cell', { name: '2', exact: true }).waitFor();
  await card.getByText('Unknown field "…".').waitFor();
  await check();
  const keys = await visit('/keys', { as: 'viewer' });
  const ofKey = keys.page.getByRole('row').filter({ hasText: key.slice(0, 10) });
  await ofKey.getByRole('button', { name: /^Actions/ }).click();
  await keys.page.getByRole('menuitem', { name: 'Refused calls' }).click();
  const dialog = keys.page.getByRole('dialog');
  await dialog.getByText('Required variables are missing: name.').waitFor();
  await dialog.getByRole('link', { name: 'Agent' }).first().waitFor();
  await keys.check();
});

test('the versions of a prompt show where each is live', async () => {
  const prompt = await makePrompt(service, { user: 'Hello' }, { user: 'Bye' });
  await makeAgent(service, prompt, { visibility: 'public', agentName: 'Greeter' });
  const { page, check } = await visit(`/prompts/${prompt.promptId}/versions`, { as: 'editor' });
  const row = page.getByRole('row').filter({ hasText: 'v1' });
  await row.getByRole('link', { name: 'Greeter' }).waitFor();
  await check();
  await page.getByRole('button', { name: 'Pin to… for v2' }).click();
  await page.getByRole('button', { name: 'Pin v2' }).click();
  await page
    .getByRole('dialog', { name: 'Pin v2?' })
    .getByRole('button', { name: 'Pin v2' })
    .click();
  const next = page.getByRole('row').filter({ hasText: 'v2' });
  await next.getByRole('link', { name: 'Greeter' }).waitFor();
});
