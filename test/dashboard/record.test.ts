import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent, ended, run } from '../../harness/agents.ts';
import { ModelFailure, noUsage } from '../../src/core/model/model-port.ts';
import { openDashboard, returnToWindow } from './harness.ts';

const { service, visit } = await openDashboard();
const { key } = await service.key();

test('an execution opens beside its list and has a page of its own', async () => {
  const agent = await addAgent(service, { system: 'Be kind to {{name}}.' });
  const { executionId } = await run(service, agent, key, { name: 'Ada' });
  const list = `/agents/${agent.agentId}/history`;
  const { page, check } = await visit(`${list}?status=success`, { as: 'viewer' });
  await page.getByRole('row').last().getByRole('link').click();
  await page.waitForURL(
    (url) => url.searchParams.get('open') === `${agent.agentId}/${executionId}`,
  );
  const panel = page.getByRole('complementary', { name: 'Execution' });
  await panel.getByText('Be kind to Ada.').waitFor();
  await panel.getByText('Queued', { exact: true }).waitFor();
  await check();
  await page.keyboard.press('Escape');
  await page.waitForURL(`**${list}?status=success`);
  await page.goto(`${list}/${executionId}`);
  await page.waitForURL(`**/history/${agent.agentId}/${executionId}`);
  await page.getByText('Be kind to Ada.').waitFor();
});

test('lists the attempts if there was more than one', async () => {
  const models = ['cueline/echo?fail=PROVIDER_QUOTA', 'cueline/echo'];
  const agent = await addAgent(service, { config: { model: models[0] ?? '', models } });
  service.models.script(new ModelFailure('PROVIDER_QUOTA', 'No credit.'));
  const { executionId } = await run(service, agent, key);
  const { page, check } = await visit(`/history/${agent.agentId}/${executionId}`, { as: 'viewer' });
  const attempts = page.getByRole('list', { name: 'Attempts' }).getByRole('listitem');
  await attempts.getByText('PROVIDER_QUOTA', { exact: true }).waitFor();
  assert.match(await attempts.nth(1).innerText(), /cueline\/echo\s+success/);
  await check();
});

test('model output never becomes active content, as text or as Markdown', async () => {
  const text = [
    '<script>document.title = "run"</script><img src="/x" onerror="document.title = \'run\'">',
    '[click](javascript:document.title="run") ![seen](https://tracker.example/pixel.png)',
    '[here](https://example.com/page) and [data](data:text/html,<script>1</script>)',
    '# Heading',
    '- one\n- **two**',
    '```\n<svg onload="document.title=1">\n```',
    '<https://example.com/"onmouseover="x>',
    '[by reference][1] ![also seen][2] [java&#115;cript](java&#115;cript:document.title="run") [file](file:///etc/passwd)',
    '[1]: JaVaScRiPt:document.title="run"\n[2]: https://tracker.example/two.png',
    '| a | b |\n|---|---|\n| [x](vbscript:run) | <b onclick="document.title=1">c</b> |',
    '- [ ] open\n- [x] done',
  ].join('\n\n');
  service.models.script({ text });
  const agent = await addAgent(service);
  const { executionId } = await run(service, agent, key);
  const { page, check } = await visit(`/history/${agent.agentId}/${executionId}`, { as: 'viewer' });
  await page.getByText('<script>document.title').first().waitFor();
  await page.getByText('Markdown', { exact: true }).click();
  const output = page.getByRole('region', { name: 'Output as Markdown' });
  await output.getByRole('heading', { name: 'Heading' }).waitFor();
  await check();
  const markup = await output.evaluate((element) => ({
    foreign: element.querySelectorAll('script, img, svg, iframe, style, form, object, input, b')
      .length,
    handlers: element.innerHTML.match(/<[^>]+\son\w+=/g),
    links: [...element.querySelectorAll('a')].map(({ href, rel }) => ({ href, rel })),
  }));
  assert.equal(markup.foreign, 0);
  assert.equal(markup.handlers, null);
  assert.ok(markup.links.length > 0);
  for (const { href, rel } of markup.links) {
    assert.match(href, /^https:\/\/example\.com\//);
    assert.match(rel, /noopener/);
  }
  const shown = await output.innerText();
  for (const text of [
    '![seen](https://tracker.example/pixel.png)',
    '![also seen][2]',
    '[click](javascript:document.title="run")',
    '[x](vbscript:run)',
    '[file](file:///etc/passwd)',
    '<svg onload="document.title=1">',
    '☑ done',
  ])
    assert.ok(shown.includes(text), text);
  assert.equal(await output.getByRole('table').count(), 1);
  assert.equal(await page.title(), 'Execution of Agent · Cueline');
});

test('shows the name of the calling key in the list and the record', async () => {
  const agent = await addAgent(service);
  const body = { name: 'Night tide', agentIds: [agent.agentId], permissions: ['execute'] };
  const { body: issued } = await service.call('POST', '/api/v1/keys', { key, body });
  await run(service, agent, issued.key);
  const { page, check } = await visit(`/agents/${agent.agentId}/history`, { as: 'viewer' });
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('checkbox', { name: 'Key' }).check();
  await page.keyboard.press('Escape');
  const name = `Night tide (${issued.start}…)`;
  const row = page.getByRole('row').last();
  await row.getByText(name).waitFor();
  await row.getByRole('link').click();
  const panel = page.getByRole('complementary', { name: 'Execution' });
  const fact = panel.getByRole('definition').filter({ hasText: issued.apiKeyId });
  await fact.getByText(name).waitFor();
  await check();
});

test('shows JSON output as a tree that folds', async () => {
  service.models.script({ text: '{"b":12345678901234567890,"a":[true]}' });
  const agent = await addAgent(service);
  const { executionId } = await run(service, agent, key);
  const { page, check } = await visit(`/history/${agent.agentId}/${executionId}`, { as: 'viewer' });
  const tree = page.getByRole('region', { name: 'Output as JSON' });
  await tree.getByText('12345678901234567890').waitFor();
  await tree.getByText('"a":').click();
  await tree.getByText('1 item').waitFor();
  await tree.getByText('true').waitFor({ state: 'detached' });
  await check();
});

test('runs again with the same and with other variables', async () => {
  const agent = await addAgent(service);
  const usage = { inputTokens: 125_432, outputTokens: 10_001 };
  service.models.script({ usage: { ...noUsage, ...usage } });
  const body = '{"variables":{"name":[12345678901234567890,1.10]}}';
  const accepted = await service.call('POST', `${agent.path}/execute`, { key, body });
  const { executionId } = await ended(service, accepted.body.statusUrl, key);
  const path = `/history/${agent.agentId}/${executionId}`;
  const { page, check } = await visit(path, { as: 'editor' });
  const given = page.getByRole('figure').filter({ hasText: /^Variables/ });
  await given.getByText('12345678901234567890').waitFor();
  await page.getByRole('definition').getByText('125,432', { exact: true }).waitFor();
  await page.getByRole('definition').getByText('10,001', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Run again' }).click();
  const dialog = page.getByRole('dialog', { name: 'Run Agent again' });
  await dialog.getByRole('button', { name: 'Run', exact: true }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.waitForURL((url) => !url.pathname.endsWith(executionId));
  await page.getByText('Hello [12345678901234567890,1.10]').first().waitFor();
  const first = page.url();
  await page.getByRole('button', { name: 'Run again' }).click();
  await dialog.getByLabel('Variables').fill('{');
  await dialog.getByText('Not a JSON object.').waitFor();
  await dialog.getByLabel('Variables').fill('{}');
  await dialog.getByRole('button', { name: 'Run', exact: true }).click();
  await dialog.getByRole('alert').getByText('req_').waitFor();
  await check();
  await dialog.getByLabel('Variables').fill('{"name":"Grace"}');
  await dialog.getByRole('button', { name: 'Run', exact: true }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.waitForURL((url) => url.href !== first);
  await page.getByText('Hello Grace').first().waitFor();
  await page.getByText('dashboard', { exact: true }).last().waitFor();
});

test('cancels an execution', async () => {
  const agent = await addAgent(service);
  const heldCall = service.models.hold();
  const body = { variables: { name: 'you' } };
  const accepted = await service.call('POST', `${agent.path}/execute`, { key, body });
  await heldCall.arrived;
  const path = `/history/${agent.agentId}/${accepted.body.executionId}`;
  const { page, check } = await visit(path, { as: 'editor' });
  await page.getByRole('button', { name: 'Cancel execution' }).click();
  await page.getByText('No action needed.').waitFor();
  // Grey, because nothing failed.
  const code = page.getByRole('region', { name: 'Reason' }).locator('code');
  const color = await code.evaluate(
    (element) => element.ownerDocument.defaultView?.getComputedStyle(element).color ?? '',
  );
  const channels = color.match(/\d+/g)?.map(Number) ?? [];
  assert.ok(channels.length >= 3 && Math.max(...channels) - Math.min(...channels) < 32, color);
  await check();
});

test('deletes a record after confirmation', async () => {
  const agent = await addAgent(service);
  const { executionId } = await run(service, agent, key);
  const path = `/history/${agent.agentId}/${executionId}`;
  const { page, check } = await visit('/history', { as: 'editor' });
  const open = async () => {
    await page.locator(`a[href^="${path}"]`).click();
    await page.getByRole('complementary').getByText('Hello you').first().waitFor();
  };
  await open();
  await page.keyboard.press('Escape');
  await page.waitForURL(/\/history$/);
  await open();
  await page.getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete this record?' });
  await dialog.getByText('permanently').waitFor();
  await check();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.waitForURL(/\/history$/);
  const deleted = await service.call('GET', `${agent.path}/executions/${executionId}`, { key });
  assert.equal(deleted.status, 404);
  await page.locator(`a[href^="${path}"]`).waitFor({ state: 'detached' });
  // The back button shows no cached data either.
  await page.goBack();
  await page.waitForURL(/open=/);
  await page.getByRole('alert').getByText('req_').waitFor();
  // Rows of other records say the same.
  assert.equal(await page.getByRole('complementary').getByText('Hello you').count(), 0);
  const row = page.getByRole('table').locator(`a[href^="${path}"]`);
  await row.waitFor({ state: 'detached' });
});

test('an unknown record shows not found', async () => {
  const agent = await addAgent(service);
  const { page, check } = await visit(`/history/${agent.agentId}/exe_unknown`, { as: 'viewer' });
  await page.getByRole('alert').getByText('req_').waitFor();
  await check();
});

test('keeps a record whose refetch fails, and removes it on 404', async () => {
  const agent = await addAgent(service);
  const { executionId } = await run(service, agent, key);
  const { page, check } = await visit(`/history/${agent.agentId}/${executionId}`, {
    as: 'viewer',
    intercepts: true,
  });
  const text = page.getByText('Hello you').first();
  await text.waitFor();
  await page.clock.install();
  const record = `**${agent.path}/executions/${executionId}`;
  await page.route(record, (route) =>
    route.fulfill({
      ...{ status: 500, json: { error: 'Error', message: 'It broke.', code: 'INTERNAL' } },
    }),
  );
  await returnToWindow(page);
  await page.getByText('This may be out of date. It broke.').waitFor();
  await text.waitFor();
  await check();
  await page.unroute(record);
  const path = `${agent.path}/executions/${executionId}`;
  assert.equal((await service.call('DELETE', path, { key })).status, 204);
  await returnToWindow(page);
  await page.getByRole('alert').getByText('req_').waitFor();
  await text.waitFor({ state: 'detached' });
});

test('viewers see no actions that change data', async () => {
  const agent = await addAgent(service);
  const { executionId } = await run(service, agent, key);
  const { page } = await visit(`/history/${agent.agentId}/${executionId}`, {
    as: 'viewer',
    intercepts: true,
  });
  await page.getByRole('button', { name: 'Copy as curl' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Delete' }).count(), 0);
  assert.equal(await page.getByRole('button', { name: 'Run again' }).count(), 0);
  // Former members are distinguished by id.
  await page.route('**/api/v1/members', (route) => route.fulfill({ json: { members: [] } }));
  await page.reload();
  const by = page.getByText('a former member', { exact: true });
  assert.match((await by.getAttribute('title')) ?? '', /^usr_/);
});
