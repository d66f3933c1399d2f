import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent, run } from '../../harness/agents.ts';
import { holdWindows } from '../../harness/windows.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();

test('the overview shows what the agent is made of, and what it has done', async () => {
  const { key } = await service.key();
  const agent = await addAgent(service, {
    rateLimits: { requestsPerMinute: 1234 },
    defaultVariableValues: { tone: 'calm' },
  });
  await run(service, agent, key);
  const { page, check } = await visit(`/agents/${agent.agentId}`, { as: 'viewer' });
  await page.getByRole('figure').first().waitFor();
  const aside = page.getByRole('complementary', { name: 'Settings in short' });
  await aside.getByText('cueline/echo').waitFor();
  await aside.getByRole('img', { name: /^[01] of 1,234 calls of this minute used$/ }).waitFor();
  assert.match(
    await aside.innerText(),
    /v1[\s\S]+name\s+required\s+tone\s+else “calm”[\s\S]+1,234[\s\S]+no limit/,
  );
  await check();
  await page.getByText('7d', { exact: true }).click();
  await page.waitForURL(/\?range=7d$/);
});

test('the limits show what is used of each window', async () => {
  const { key } = await service.key();
  const agent = await addAgent(service, { stage: 'Testing', rateLimits: { requestsPerDay: 1 } });
  await holdWindows(service.db, agent.id);
  await run(service, agent, key);
  const { page, check } = await visit(`/agents/${agent.agentId}`, {
    as: 'viewer',
    intercepts: true,
  });
  await page.getByRole('img', { name: '1 of 1 calls of this day used' }).waitFor();
  await page.getByRole('img', { name: '1 of 10 calls of this minute used' }).waitFor();
  await page.getByText('Capped by Testing.').first().waitFor();
  await check();
  await page.route('**/limits', (route) => route.fulfill({ status: 500, json: problem }));
  await page.reload();
  await page.getByRole('alert').getByText('It broke.').waitFor();
});

test('where only the figures cannot be read, it is said why', async () => {
  const agent = await addAgent(service);
  const { page, check } = await visit('/welcome', { as: 'viewer', intercepts: true });
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
  await page.getByRole('definition').filter({ hasText: '$0.00' }).waitFor();
});

test('an agent is moved once it was said what will happen', async () => {
  const agent = await addAgent(service);
  const { page, check } = await visit(`/agents/${agent.agentId}`, { as: 'editor' });
  await page.getByRole('button', { name: 'Disable' }).click();
  const dialog = page.getByRole('dialog', { name: 'Disable this agent?' });
  await dialog.getByText('every program is answered 403').waitFor();
  await check();
  await dialog.getByRole('button', { name: 'Disable' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('listitem').filter({ hasText: 'Paused' }).waitFor();
  assert.equal(await page.locator('[aria-current="step"]').getAttribute('data-stage'), 'Paused');
  await page.getByRole('button', { name: 'Enable again' }).waitFor();
});

test("a move that the server refuses shows the server's words", async () => {
  const agent = await addAgent(service);
  const { page, check } = await visit(`/agents/${agent.agentId}`, { as: 'owner' });
  await page.getByRole('button', { name: 'Disable' }).click();
  const { key } = await service.key();
  const body = { action: 'disable' };
  assert.equal((await service.call('POST', `${agent.path}/lifecycle`, { key, body })).status, 200);
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
  const alert = page.getByRole('alert');
  await alert.waitFor();
  assert.match(await alert.innerText(), /req_/);
  await check();
});

test('a viewer is offered no move', async () => {
  const agent = await addAgent(service);
  const { page } = await visit(`/agents/${agent.agentId}`, { as: 'viewer' });
  await page.getByRole('heading', { name: 'Lifecycle' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Disable' }).count(), 0);
});

test('an agent that is not there is said not to be', async () => {
  const { page, check } = await visit('/agents/agt_unknown', { as: 'owner' });
  await page.getByRole('alert').getByText('req_').waitFor();
  assert.doesNotMatch(await page.title(), /^Cueline/);
  await check();
  await page.getByRole('link', { name: 'Go to the agents' }).click();
  await page.waitForURL('**/agents');
});

const problem = {
  error: 'Internal error',
  message: 'It broke.',
  code: 'INTERNAL',
  requestId: 'req_of_the_test',
};
