import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();

test('creates a key, shows it once, and it works', async () => {
  const agent = await addAgent(service);
  const { page, check } = await visit('/keys', { as: 'editor' });
  await page.getByRole('button', { name: 'Create key' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Shop');
  await dialog.getByLabel('Read all executions').check();
  await dialog.getByLabel('Calls per minute').fill('7');
  await dialog.getByLabel('Calls per hour').fill('');
  await dialog.getByLabel('Expires').selectOption('On a date…');
  await dialog.getByLabel('Date', { exact: true }).fill('12345-01-01');
  await dialog.getByText('Invalid date.').waitFor();
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByLabel('Expires').selectOption('In 30 days');
  await check();
  await dialog.getByRole('combobox', { name: 'Agents' }).click();
  await page.getByRole('option', { name: 'Agent' }).first().click();
  await dialog.getByRole('button', { name: 'Create key' }).click();
  const secret = await dialog.getByText(/^cue_[0-9A-Za-z]{36}$/).innerText();
  await check();
  // Without the clipboard API, as over plain HTTP; then without the fallback too.
  await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined });
    document.addEventListener('copy', ({ target }) => { window.copied = target.value; });`);
  await dialog.getByRole('button', { name: 'Copy API key' }).click();
  await dialog.getByRole('button', { name: 'Copied' }).waitFor();
  assert.equal(await page.evaluate('window.copied'), secret);
  await page.evaluate('document.execCommand = () => false');
  await dialog.getByRole('figure').first().getByRole('button').click();
  await dialog.getByRole('button', { name: 'Copy failed' }).waitFor();
  await page.getByRole('tooltip').getByText('Copy failed').waitFor();
  await page.keyboard.press('Escape');
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.setViewportSize({ width: 1440, height: 900 });
  const row = page.getByRole('row').filter({ hasText: 'Shop' });
  for (const text of ['execute, read', /^ends /]) {
    await row.getByText(text).waitFor();
    const { x, width } = (await row.getByText(text).boundingBox()) ?? { x: 1440, width: 0 };
    // Not behind the actions at the right edge.
    assert.ok(x + width < 1380, String(text));
  }
  assert.equal(await page.getByText(secret).count(), 0);
  const { body } = await service.call('GET', '/api/v1/keys', { key: (await service.key()).key });
  const issued = body.keys.find((key: { name: string }) => key.name === 'Shop');
  assert.deepEqual(issued.agentIds, [agent.agentId]);
  assert.deepEqual(issued.permissions, ['execute', 'read']);
  assert.deepEqual(issued.rateLimits, {
    ...{ requestsPerMinute: 7, requestsPerHour: null, requestsPerDay: 100_000 },
  });
  const variables = { name: 'you' };
  const call = { key: secret, body: { variables } };
  assert.equal((await service.call('POST', `${agent.path}/execute`, call)).status, 202);
});

test('shows a server error in the dialog', async () => {
  const { page, check } = await visit('/keys', { as: 'editor' });
  await page.getByRole('button', { name: 'Create key' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Page');
  await dialog.getByRole('combobox', { name: 'Allowed browser origins' }).fill('not an origin');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByRole('alert').getByText('req_').waitFor();
  await check();
});

test("shows code snippets with the agent's variables", async () => {
  const agent = await addAgent(service, {
    user: '{{topic}} {{tone}}',
    requiredVariables: ['topic'],
    optionalVariables: ['tone'],
    defaultVariableValues: { tone: "sailor's", length: 3 },
  });
  const { page, check } = await visit(`/agents/${agent.agentId}/use`, { as: 'editor' });
  const code = page.getByRole('figure').locator('pre');
  assert.match(
    await code.innerText(),
    /\/execute'[\s\S]+"topic": "your topic"[\s\S]+sailor'\\''s[\s\S]+"length": 3/,
  );
  await check();
  const slug = `agent-${agent.id}`;
  for (const [language, names] of [
    ['TypeScript', agent.agentId],
    ['Python', `"id": "${slug}"`],
    ['Claude Code', `${service.url}/mcp/${slug}`],
    ['Cursor', `${service.url}/mcp/${slug}`],
    ['VS Code', `${service.url}/mcp/${slug}`],
  ] as const) {
    await page.getByText(language, { exact: true }).first().click();
    assert.ok((await code.innerText()).includes(names), language);
  }
  await check({ inDarkMode: true });
});
