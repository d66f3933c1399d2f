import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeAgent, makePrompt, move } from '../../harness/prompts.ts';
import { startReceiver, toReceivers } from '../../harness/receiver.ts';
import { echoOf } from '../../harness/tool-agents.ts';
import { addToolServer, refundTool } from '../../harness/tool-server.ts';
import { createModels } from '../../src/models/registry.ts';
import { openDashboard } from './harness.ts';

const models = createModels({
  open: () => assert.fail('no provider is configured'),
  ...{ env: {}, allowedHosts: [] },
});
after(() => models.close());
const { service, visit } = await openDashboard({ config: toReceivers, models });
const receiver = await startReceiver((_, response) => void response.end('{"refunded":true}'));
after(receiver.close);
const { key } = await service.key();

test('a tool server is added with its secret, changed and deleted', async () => {
  const { page, check } = await visit('/settings/tool-servers', { as: 'owner' });
  await page.getByRole('button', { name: 'Add tool server' }).first().click();
  const form = page.getByRole('dialog', { name: 'Add tool server' });
  await form.getByLabel('Name').fill('crm');
  await form.getByLabel('URL').fill(receiver.url);
  await form.getByLabel('Headers of each request').fill('{"X-Key": "s3cr3t"}');
  await form.getByLabel('Tools').fill(JSON.stringify({ tools: [refundTool] }));
  await form.getByRole('button', { name: 'Add tool server' }).click();
  const secret = page.getByRole('dialog', { name: 'Signing secret' });
  await secret.getByText(/^whsec_/).waitFor();
  await check();
  await secret.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('cell', { name: 'crm http' }).waitFor();
  await check({ inDarkMode: true });
  await page.getByRole('button', { name: 'Actions for crm' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  const edit = page.getByRole('dialog', { name: 'Edit crm' });
  await edit.getByText('Leave empty to keep X-Key', { exact: false }).waitFor();
  await edit.getByLabel('Timeout in ms').fill('5000');
  await edit.getByRole('button', { name: 'Save' }).click();
  await edit.waitFor({ state: 'detached' });
  const { body } = await service.call('GET', '/api/v1/tool-servers', { key });
  const [{ timeoutMs, headerNames, toolNames }] = body.toolServers;
  assert.deepEqual([timeoutMs, headerNames, toolNames], [5_000, ['X-Key'], ['refund']]);
  await page.getByRole('button', { name: 'Actions for crm' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No tool servers yet').waitFor();
});

test('a built-in tool server has no secret', async () => {
  const { name: signed } = await addToolServer(service, { url: receiver.url });
  const { page, check } = await visit('/settings/tool-servers', { as: 'owner' });
  await page.getByRole('button', { name: 'Add tool server' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Name').fill('built-in');
  await form.getByLabel('URL').fill('cueline:echo');
  await form.getByRole('button', { name: 'Add tool server' }).click();
  await page.getByRole('cell', { name: 'built-in cueline:echo' }).waitFor();
  await form.waitFor({ state: 'detached' });
  for (const [name, count] of [
    ['built-in', 0],
    [signed, 1],
  ] as const) {
    await page.getByRole('button', { name: `Actions for ${name}`, exact: true }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).waitFor();
    assert.equal(await page.getByRole('menuitem', { name: 'Rotate secret' }).count(), count);
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
  }
  await check();
});

test('an editor adds a tool to a version, and sees what the model will see of it', async () => {
  const { name } = await addToolServer(service, { url: receiver.url });
  const prompt = await makePrompt(service, { user: 'Hi' });
  const { page, check } = await visit(`/prompts/${prompt.promptId}`, { as: 'editor' });
  await page.getByLabel('Tool server').selectOption({ label: name });
  await page.getByLabel('Tool', { exact: true }).selectOption('refund');
  await page.getByText('"Pays an order back."', { exact: false }).waitFor();
  await page.getByRole('button', { name: 'Add refund' }).click();
  const extras = page.getByLabel('Tools and more settings as JSON');
  const { tools } = JSON.parse(await extras.inputValue());
  assert.deepEqual(tools, [{ server: name, tool: 'refund', approval: 'never' }]);
  assert.ok(await page.getByRole('button', { name: 'refund is added' }).isDisabled());
  await check();
});

test('a record has a timeline of turns and calls, and its version can be edited', async () => {
  const { name } = await addToolServer(service, { url: receiver.url });
  const model = echoOf([['refund', { orderId: 'o-1' }]]);
  const tools = [{ server: name, tool: 'refund', safe: true }];
  const prompt = await makePrompt(service, { user: 'Pay it back.', model, tools });
  const agent = await makeAgent(service, prompt, { visibility: 'public' });
  await move(service, agent, 'enable-api', 'deploy');
  const { body } = await service.call('POST', `${agent.path}/execute`, {
    key,
    body: { variables: {} },
  });
  await service.call('GET', `${agent.path}/executions/${body.executionId}?wait=60`, { key });
  const { page, check } = await visit(`/history/${agent.agentId}/${body.executionId}`, {
    as: 'viewer',
  });
  const timeline = page.getByRole('region', { name: 'Timeline' });
  await timeline.getByText('refund', { exact: true }).click();
  await timeline.getByText('"orderId": "o-1"', { exact: false }).waitFor();
  await timeline.getByText('{"refunded":true}').waitFor();
  await check({ inDarkMode: true });
  const failing = await visit('/healthz', { as: 'viewer', intercepts: true });
  const steps = '**/executions/*/steps*';
  await failing.page.route(steps, (route) =>
    route.fulfill({ status: 500, json: { message: 'It broke.', code: 'INTERNAL' } }),
  );
  await failing.page.goto(`/history/${agent.agentId}/${body.executionId}`);
  await failing.page.getByRole('alert').getByText('It broke.').waitFor();
  await failing.page.unroute(steps);
  await failing.page.getByRole('button', { name: 'Try again' }).click();
  await failing.page.getByRole('region', { name: 'Timeline' }).waitFor();
  const { page: editor } = await visit(`/prompts/${prompt.promptId}`, { as: 'owner' });
  const extras = editor.getByLabel('Tools and more settings as JSON');
  const written = JSON.parse(await extras.inputValue()).tools;
  const added = await service.call('POST', `${prompt.path}/versions`, {
    ...{ key, body: { user: 'Other.', tools: written } },
  });
  assert.equal(added.status, 201, added.body.message);
});

test('the playground counts calls of tools, and the record shows which went wrong', async () => {
  const { name, path } = await addToolServer(service, { url: 'cueline:echo' });
  const model = echoOf([['refund', { orderId: 'o-1' }]], [['unknown', {}]]);
  const tools = [{ server: name, tool: 'refund', safe: true }];
  const prompt = await makePrompt(service, { user: 'Pay it back.', model, tools });
  await service.call('PATCH', path, { key, body: { enabled: false } });
  const { page, check } = await visit(`/prompts/${prompt.promptId}/playground`, { as: 'editor' });
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const calls = page
    .locator('dt', { hasText: 'Tool calls' })
    .locator('xpath=following-sibling::dd');
  await calls.first().waitFor();
  assert.equal(await calls.first().textContent(), '1');
  await page.getByRole('link', { name: 'Record' }).click();
  const timeline = page.getByRole('region', { name: 'Timeline' });
  const refund = timeline.getByRole('listitem').filter({ hasText: 'TOOL_SERVER_ERROR' });
  await refund.waitFor();
  assert.equal(await refund.getAttribute('data-tone'), 'bad');
  await timeline.getByText('error', { exact: true }).waitFor();
  // The turns are no attempts: nothing was tried again.
  await page.getByRole('list', { name: 'Model calls' }).waitFor();
  await refund.locator('summary').click();
  await timeline.getByText('The tool server is disabled.').waitFor();
  await check({ inDarkMode: true });
});
