import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { makeAgent, makePrompt } from '../../harness/prompts.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();

test('runs an agent from its page with defaults for omitted variables', async () => {
  const prompt = await makePrompt(service, { user: 'Hello {{name}}, {{word}}' });
  const agent = await makeAgent(service, prompt, {
    visibility: 'public',
    optionalVariables: ['word'],
    defaultVariableValues: { word: 'welcome' },
  });
  const { page, check } = await visit(`/agents/${agent.agentId}/run`, { as: 'editor' });
  await page.getByRole('textbox', { name: 'name' }).fill('Ada');
  await check();
  await page.keyboard.press('ControlOrMeta+Enter');
  await page.getByText('Hello Ada, welcome').waitFor();
  await check();
  await page.getByText('JSON', { exact: true }).click();
  await page.getByRole('textbox', { name: 'Variables as JSON' }).fill('{"word": [1]}');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('alert').getByText('req_').waitFor();
  await check();
});

test('switching to the form keeps JSON that the form cannot hold', async () => {
  const agent = await addAgent(service, { stage: 'Draft' });
  const { page, check } = await visit(`/agents/${agent.agentId}/run`, { as: 'owner' });
  await page.getByText('JSON', { exact: true }).click();
  const json = page.getByRole('textbox', { name: 'Variables as JSON' });
  await json.fill('{"name": {"first": "Ada"}}');
  await page.getByText('Form', { exact: true }).click();
  await page.getByText('The form supports only text values').waitFor();
  await check();
  const tabs = page.getByRole('navigation', { name: 'Agent' });
  await tabs.getByRole('link', { name: 'Overview' }).click();
  await tabs.getByRole('link', { name: 'Run', exact: true }).click();
  assert.match(await json.inputValue(), /"first": "Ada"/);
  await json.fill('{"name": "Grace"}');
  await page.getByText('Form', { exact: true }).click();
  assert.equal(await page.getByRole('textbox', { name: 'name' }).inputValue(), 'Grace');
});

test('shows a rate limit without retrying, and stops following when the page closes', async () => {
  const agent = await addAgent(service, { stage: 'Draft' });
  const { page } = await visit(`/agents/${agent.agentId}/run`, { as: 'owner', intercepts: true });
  const headers = { 'retry-after': '50' };
  const json = { ...{ error: 'Too many', message: 'Wait.', code: 'RATE_LIMIT_EXCEEDED' } };
  await page.route('**/execute', (route) => route.fulfill({ status: 429, headers, json }));
  await page.getByRole('textbox', { name: 'name' }).fill('Ada');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('alert').getByText('Wait.').waitFor();
  await page.unroute('**/execute');
  const heldCall = service.models.hold();
  const follows = page.waitForRequest(/\/stream/);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await follows;
  const [given] = await Promise.all([
    page.waitForEvent('requestfailed', (request) => request.url().includes('/stream')),
    page.getByRole('link', { name: 'Prompts' }).click(),
  ]);
  assert.match(given.failure()?.errorText ?? '', /ABORTED/);
  heldCall.release();
});

test('cancels an execution in progress', async () => {
  const agent = await addAgent(service, { stage: 'Draft' });
  const heldCall = service.models.hold();
  const { page } = await visit(`/agents/${agent.agentId}/run`, { as: 'owner', intercepts: true });
  const [start, cancel] = ['Run', 'Cancel'].map((name) =>
    page.getByRole('button', { name, exact: true }),
  );
  const json = { error: 'Error', message: 'It broke.', code: 'INTERNAL' };
  await page.route('**/cancel', (route) => route.fulfill({ status: 500, json }));
  await page.getByRole('textbox', { name: 'name' }).fill('Ada');
  await start?.click();
  await cancel?.click();
  await page.getByRole('alert').getByText('It broke.').waitFor();
  heldCall.release();
  await page.getByText('success', { exact: true }).waitFor();
  // The error of an earlier cancelation does not show for the next execution.
  service.models.hold();
  await start?.click();
  await page.getByText('Running…').waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
  await page.unroute('**/cancel');
  await cancel?.click();
  await page.getByText('canceled', { exact: true }).waitFor();
});

test('cancels an execution before the page knows its id', async () => {
  const agent = await addAgent(service, { stage: 'Draft' });
  service.models.hold();
  const { page } = await visit(`/agents/${agent.agentId}/run`, { as: 'owner', intercepts: true });
  const heldCall = Promise.withResolvers<void>();
  await page.route('**/execute', async (route) => {
    await heldCall.promise;
    await route.continue();
  });
  await page.getByRole('textbox', { name: 'name' }).fill('Ada');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  heldCall.resolve();
  await page.getByText('canceled', { exact: true }).waitFor();
});

test('shows the diff before pinning a version, and restores the previous pin', async () => {
  const prompt = await makePrompt(
    service,
    { user: 'Hello {{name}}' },
    { user: 'Hello {{name}} and {{other}}' },
  );
  const agent = await makeAgent(service, prompt, { visibility: 'public' });
  const { page, check } = await visit(`/agents/${agent.agentId}/versions`, {
    as: 'editor',
    intercepts: true,
  });
  await page.getByRole('button', { name: 'Pin v2' }).click();
  const dialog = page.getByRole('dialog', { name: 'Pin v2?' });
  await dialog.getByText('They become required').waitFor();
  await dialog.getByRole('textbox', { name: 'User template of v2' }).waitFor();
  await check();
  const heldCall = Promise.withResolvers<void>();
  await page.route(`**${agent.path}`, async (route) => {
    if (route.request().method() === 'PATCH') await heldCall.promise;
    await route.continue();
  });
  await dialog.getByRole('button', { name: 'Pin v2' }).click();
  await dialog.locator('button[data-loading]').waitFor();
  assert.ok(await dialog.getByRole('button', { name: 'Keep v1' }).isDisabled());
  heldCall.resolve();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Roll back to v1' }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Roll back to v1' }).click();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Pin v2' }).first().waitFor();
  await check();
  const { key } = await service.key();
  const { body } = await service.call('GET', `${agent.path}/pins`, { key });
  assert.deepEqual(
    body.pins.map((pin: { promptVersionLabel: string }) => pin.promptVersionLabel),
    ['v1', 'v2', 'v1'],
  );
});
