import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent, run } from '../../harness/agents.ts';
import { freezeWindows } from '../../harness/windows.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();

test("the overview shows the agent's settings and activity", async () => {
  const { key } = await service.key();
  const agent = await addAgent(service, {
    rateLimits: { requestsPerMinute: 1234 },
    defaultVariableValues: { tone: 'calm' },
  });
  await run(service, agent, key);
  const { page, check } = await visit(`/agents/${agent.agentId}`, { as: 'viewer' });
  await page
    .getByRole('region', { name: 'Figures' })
    .getByRole('link', { name: '1', exact: true })
    .waitFor();
  const aside = page.getByRole('complementary', { name: 'Settings summary' });
  await aside.getByText('cueline/echo').waitFor();
  await aside.getByRole('img', { name: /^[01] of 1,234 calls used this minute$/ }).waitFor();
  assert.match(
    await aside.innerText(),
    /v1[\s\S]+name\s+required\s+tone\s+default: “calm”[\s\S]+1,234[\s\S]+no limit/,
  );
  await check();
  await page.getByRole('button', { name: '7 days' }).click();
  await page.waitForURL(/\?range=7d$/);
});

test('shows the usage of each rate limit window', async () => {
  const { key } = await service.key();
  const agent = await addAgent(service, { stage: 'Testing', rateLimits: { requestsPerDay: 1 } });
  await freezeWindows(service.db, agent.id);
  await run(service, agent, key);
  const { page, check } = await visit(`/agents/${agent.agentId}`, {
    as: 'viewer',
    intercepts: true,
  });
  await page.getByRole('img', { name: '1 of 1 calls used this day' }).waitFor();
  await page.getByRole('img', { name: '1 of 10 calls used this minute' }).waitFor();
  await page.getByText('Capped by the Testing stage.').first().waitFor();
  await check();
  await page.route('**/limits', (route) => route.fulfill({ status: 500, json: problem }));
  await page.reload();
  await page.getByRole('alert').getByText('It broke.').waitFor();
});

test('shows an error if the figures fail to load', async () => {
  const agent = await addAgent(service);
  const { page, check } = await visit('/keys', { as: 'viewer', intercepts: true });
  let broken = true;
  await page.route('**/statistics?*level=all*', (route) =>
    broken ? route.fulfill({ status: 500, json: problem }) : route.continue(),
  );
  await page.goto(`/agents/${agent.agentId}`);
  const alert = page.getByRole('alert');
  await alert.getByText('It broke.').waitFor();
  await check();
  broken = false;
  await alert.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('region', { name: 'Figures' }).getByText('$0.00').first().waitFor();
});

test('changes the stage after confirmation', async () => {
  const agent = await addAgent(service);
  const { page, check } = await visit(`/agents/${agent.agentId}`, { as: 'editor' });
  await page.getByRole('button', { name: 'Pause' }).click();
  const dialog = page.getByRole('dialog', { name: 'Pause Agent?' });
  await dialog.getByText('New calls fail with 403').waitFor();
  await check();
  await dialog.getByRole('button', { name: 'Pause' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('listitem').filter({ hasText: 'Paused' }).waitFor();
  assert.equal(await page.locator('[aria-current="step"]').getAttribute('data-stage'), 'Paused');
  await page.getByRole('button', { name: 'Resume' }).waitFor();
});

test("shows the server's message for a rejected stage change", async () => {
  const agent = await addAgent(service);
  const { page, check } = await visit(`/agents/${agent.agentId}`, { as: 'owner' });
  await page.getByRole('button', { name: 'Pause' }).click();
  const { key } = await service.key();
  const body = { action: 'disable' };
  assert.equal((await service.call('POST', `${agent.path}/lifecycle`, { key, body })).status, 200);
  await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
  const alert = page.getByRole('alert');
  await alert.waitFor();
  assert.match(await alert.innerText(), /req_/);
  await check();
});

test('an unknown agent shows not found', async () => {
  const { page, check } = await visit('/agents/agt_unknown', { as: 'owner' });
  await page.getByRole('alert').getByText('req_').waitFor();
  assert.doesNotMatch(await page.title(), /^Cueline/);
  await check();
  await page.getByRole('link', { name: 'Go to Agents' }).click();
  await page.waitForURL('**/agents');
});

const problem = {
  error: 'Internal error',
  message: 'It broke.',
  code: 'INTERNAL',
  requestId: 'req_of_the_test',
};
