import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent, run } from '../../harness/agents.ts';
import { holdWindows } from '../../harness/windows.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();

test('without keys the page says what one is for', async () => {
  const { page, check } = await visit('/keys', { as: 'viewer' });
  await page.getByRole('heading', { name: 'No keys yet' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Issue a key' }).count(), 0);
  await check();
});

test('a key is issued, shown once, and calls', async () => {
  const agent = await addAgent(service);
  const { page, check } = await visit('/keys', { as: 'editor' });
  await page.getByRole('button', { name: 'Issue a key' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Shop');
  await dialog.getByLabel('Read the history').check();
  await dialog.getByLabel('Calls a minute').fill('7');
  await dialog.getByLabel('Calls an hour').fill('');
  await dialog.getByLabel('It expires').selectOption('At the end of a day…');
  await dialog.getByLabel('Day', { exact: true }).fill('12345-01-01');
  await dialog.getByText('There is no such day.').waitFor();
  await dialog.getByRole('button', { name: 'Issue the key' }).click();
  await dialog.getByLabel('It expires').selectOption('In 30 days');
  await check();
  await dialog.getByRole('combobox', { name: 'Agents' }).click();
  await page.getByRole('option', { name: 'Agent' }).first().click();
  await dialog.getByRole('button', { name: 'Issue the key' }).click();
  const secret = await dialog.getByText(/^cue_[0-9A-Za-z]{36}$/).innerText();
  await check();
  // As over plain HTTP; and then in a browser that does not take the other way either.
  await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined });
    document.addEventListener('copy', ({ target }) => { window.copied = target.value; });`);
  await dialog.getByRole('button', { name: 'Copy API key' }).click();
  await dialog.getByRole('button', { name: 'Copied' }).waitFor();
  assert.equal(await page.evaluate('window.copied'), secret);
  await page.evaluate('document.execCommand = () => false');
  await dialog.getByRole('figure').getByRole('button').click();
  await dialog.getByRole('button', { name: 'Could not be copied' }).waitFor();
  await page.getByRole('tooltip').getByText('Could not be copied').waitFor();
  await page.keyboard.press('Escape');
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('cell', { name: /^Shop/ }).waitFor();
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

test('the list shows what each key has used of its limits', async () => {
  const agent = await addAgent(service);
  const { key, id } = await service.key({ rateLimits: { requestsPerMinute: 4 } });
  await holdWindows(service.db, id);
  await run(service, agent, key);
  const { page, check } = await visit('/keys', { as: 'viewer' });
  await page.getByRole('img', { name: '1 of 4 calls of this minute used' }).waitFor();
  await page.getByRole('img', { name: '1 of 5,000 calls of this hour used' }).waitFor();
  await check();
});

test('a refusal stays in the dialog', async () => {
  const { page, check } = await visit('/keys', { as: 'editor' });
  await page.getByRole('button', { name: 'Issue a key' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Page');
  await dialog.getByRole('combobox', { name: 'Browser origins' }).fill('not an origin');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Issue the key' }).click();
  await dialog.getByRole('alert').getByText('req_').waitFor();
  await check();
});

test('a key is rotated, and the old one revoked', async () => {
  const { key } = await service.key();
  const { page, check } = await visit('/keys', { as: 'owner' });
  const row = page.getByRole('row').filter({ hasText: key.slice(0, 10) });
  await row.getByRole('button', { name: /^Actions/ }).click();
  await page.getByRole('menuitem', { name: 'Rotate' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Grace').selectOption('A week');
  await check();
  await dialog.getByRole('button', { name: 'Rotate' }).click();
  await dialog.getByText(/^cue_[0-9A-Za-z]{36}$/).waitFor();
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  await row.getByRole('button', { name: /^Actions/ }).click();
  await page.getByRole('menuitem', { name: 'Revoke' }).click();
  await dialog.getByText('is answered 401').waitFor();
  await check();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await row.getByText('revoked').waitFor();
});

test("an agent's page shows how it is called, with its own variables", async () => {
  const agent = await addAgent(service, {
    user: '{{topic}} {{tone}}',
    requiredVariables: ['topic'],
    optionalVariables: ['tone'],
    defaultVariableValues: { tone: "sailor's", length: 3 },
  });
  const { page, check } = await visit(`/agents/${agent.agentId}/access`, { as: 'editor' });
  const code = page.getByRole('figure').locator('pre');
  assert.match(
    await code.innerText(),
    /\/execute'[\s\S]+"topic": "your topic"[\s\S]+sailor'\\''s[\s\S]+"length": 3/,
  );
  await check();
  for (const language of ['TypeScript', 'Python']) {
    await page.getByText(language, { exact: true }).first().click();
    assert.match(await code.innerText(), new RegExp(agent.agentId));
  }
  await check();
});
