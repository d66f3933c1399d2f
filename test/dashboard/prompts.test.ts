import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makePrompt } from '../../harness/prompts.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();

test('the empty list explains prompts; creates and edits the first prompt', async () => {
  const { page, check } = await visit('/prompts', { as: 'editor', intercepts: true });
  await page.getByRole('heading', { name: 'No prompts yet' }).waitFor();
  await check();
  await page.getByRole('button', { name: 'New prompt' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'New prompt' });
  await dialog.getByLabel('Name').fill('Greeting');
  await check();
  const held = Promise.withResolvers<void>();
  await page.route('**/api/v1/prompts', async (route) => {
    await held.promise;
    await route.continue();
  });
  await dialog.getByRole('button', { name: 'Create and edit' }).click();
  await dialog.locator('button[data-loading]').waitFor();
  assert.ok(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled());
  held.resolve();
  await page.waitForURL(/\/prompts\/prm_/);
  await page.getByText('No versions yet. Write the first one.').waitFor();
  await page.getByRole('textbox', { name: 'User template' }).click();
  await page.keyboard.type('Greet {{ name }} in {{language}}, {{na');
  await page.getByRole('option', { name: 'name' }).waitFor();
  await check();
  await page.keyboard.press('Escape');
  await page.keyboard.type('me}}.');
  await page.getByRole('button', { name: 'user, line 1: go to language' }).waitFor();
  assert.equal(await page.locator('.cm-variable').count(), 3);
  await page.getByRole('combobox', { name: 'Model' }).fill('cueline/echo');
  await page.keyboard.press('Escape');
  await page.getByRole('textbox', { name: 'Notes' }).fill('To begin with');
  await page.getByRole('button', { name: 'Save version' }).click();
  await page.getByRole('status').getByText('Saved as v1.').waitFor();
  await check();
  await page.getByRole('link', { name: 'Versions' }).click();
  await page.getByRole('cell', { name: 'To begin with' }).waitFor();
  await page.getByRole('cell', { name: 'editor' }).waitFor();
});

test('keeps a draft across reloads until discarded', async () => {
  const { promptId } = await makePrompt(service, { user: 'Hello {{name}}' });
  const { page } = await visit(`/prompts/${promptId}`, { as: 'owner' });
  await page.getByRole('textbox', { name: 'User template' }).click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.insertText(', dear {{first name}}');
  await page.getByText('Unsaved changes').waitFor();
  await page.getByRole('status').getByText('{{first name}}', { exact: true }).waitFor();
  await page.reload();
  await page.getByRole('textbox', { name: 'User template' }).getByText(', dear').waitFor();
  await page.getByRole('button', { name: 'Discard draft' }).click();
  await page.getByText('no changes.').waitFor();
  await page.getByRole('textbox', { name: 'User template' }).getByText('Hello').waitFor();
});

test('edits made during a save continue from the new version', async () => {
  const { promptId } = await makePrompt(service, { user: 'Hello' });
  const { page } = await visit(`/prompts/${promptId}`, { as: 'owner', intercepts: true });
  const editor = page.getByRole('textbox', { name: 'User template' });
  await editor.click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.type(', dear');
  let send = () => {};
  const held = new Promise<void>((resolve) => {
    send = resolve;
  });
  await page.route('**/versions', async (route) => {
    if (route.request().method() === 'POST') await held;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Save version' }).click();
  await editor.click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.type(' friend');
  send();
  await page.getByText('Unsaved changes, based on “v2”.').waitFor();
  await editor.getByText('Hello, dear friend').waitFor();
  await page.getByRole('button', { name: 'Discard draft' }).click();
  await editor.getByText('Hello, dear').waitFor();
});

test('a clean draft follows newer versions; a changed one warns of them', async () => {
  const { promptId } = await makePrompt(service, { user: 'Hello' });
  const { page, check } = await visit(`/prompts/${promptId}`, { as: 'owner' });
  const editor = page.getByRole('textbox', { name: 'User template' });
  await editor.click();
  await page.keyboard.type('x');
  await page.getByText('Unsaved changes').waitFor();
  await page.keyboard.press('Backspace');
  await page.getByText('Version “v1”, no changes.').waitFor();
  // Both changes before the page renders either.
  await page.evaluate(`{
    const { view } = document.querySelector('.cm-content').cmTile.root;
    view.dispatch({ changes: { from: 0, insert: 'x' } });
    view.dispatch({ changes: { from: 0, to: 1 } });
  }`);
  assert.equal(await page.evaluate(`sessionStorage.getItem('cueline-draft-${promptId}')`), null);
  const { key } = await service.key();
  const path = `/api/v1/prompts/${promptId}/versions`;
  await service.call('POST', path, { key, body: { user: 'Good evening' } });
  await page.reload();
  await page.getByText('Version “v2”, no changes.').waitFor();
  await editor.click();
  await page.keyboard.type('x');
  await service.call('POST', path, { key, body: { user: 'Good night' } });
  await page.reload();
  await page.getByText('The latest version is “v3”').waitFor();
  await check();
  await page.getByRole('link', { name: 'View changes' }).click();
  await page.waitForURL(/before=.*after=|after=.*before=/);
});

test("shows the server's message for a rejected version", async () => {
  const { promptId } = await makePrompt(service, { user: 'Hello', label: 'first' });
  const { page, check } = await visit(`/prompts/${promptId}`, { as: 'owner' });
  await page.getByRole('textbox', { name: 'User template' }).click();
  await page.keyboard.type('Well. ');
  await page.getByRole('textbox', { name: 'Label' }).fill('first');
  await page.getByRole('button', { name: 'Save version' }).click();
  const alert = page.getByRole('alert');
  await alert.waitFor();
  assert.match(await alert.innerText(), /req_/);
  await check();
});

test('compares two versions named in the URL', async () => {
  const { promptId, versionIds } = await makePrompt(
    service,
    { user: 'Hello {{name}}', temperature: 0.5, label: 'first' },
    { user: 'Goodbye {{name}}', label: 'second' },
    { user: 'Goodbye {{name}}', label: 'third' },
  );
  const { page, check } = await visit(`/prompts/${promptId}/versions`, { as: 'viewer' });
  await page.getByText('No differences.').waitFor();
  await page.getByRole('combobox', { name: 'Base version' }).selectOption('first');
  await page.waitForURL(`**/versions?before=${versionIds[0]}`);
  await page.getByRole('textbox', { name: 'User template of first' }).waitFor();
  assert.match(await page.getByRole('region', { name: 'Settings' }).innerText(), /0\.5\s+default/);
  await check();
});

test('a line that follows an unchanged last one is all that a comparison marks', async () => {
  const added = 'Hello {{name}}\nBye';
  const { promptId } = await makePrompt(service, { user: 'Hello {{name}}' }, { user: added });
  const { page } = await visit(`/prompts/${promptId}/versions`, { as: 'viewer' });
  const after = page.getByRole('textbox', { name: 'User template of v2' });
  await after.locator('.cm-changedLine').waitFor();
  assert.deepEqual(await after.locator('.cm-changedLine').allInnerTexts(), ['Bye']);
  const before = page.getByRole('textbox', { name: 'User template of v1' });
  assert.equal(await before.locator('.cm-changedLine').count(), 0);
});

test('a version can be saved without scrolling', async () => {
  const { promptId } = await makePrompt(service, { user: 'Hello' });
  const { page } = await visit(`/prompts/${promptId}`, {
    ...{ as: 'editor', viewport: { width: 1440, height: 900 } },
  });
  const save = page.getByRole('button', { name: 'Save version' });
  const box = await save.boundingBox();
  assert.ok(box && box.y + box.height <= 900, JSON.stringify(box));
});

test('compares a version that is not listed yet, and loads older versions', async () => {
  const later = Array.from({ length: 101 }, () => ({ user: 'Goodbye' }));
  const created = await makePrompt(service, { user: 'Hello', label: 'first' }, ...later);
  const [oldest = ''] = created.versionIds;
  const path = `/prompts/${created.promptId}/versions?before=${oldest}`;
  const { page, check } = await visit(path, { as: 'viewer' });
  await page.getByRole('textbox', { name: 'User template of first' }).waitFor();
  const before = page.getByRole('combobox', { name: 'Base version' });
  assert.equal(await before.inputValue(), oldest);
  assert.equal(await page.getByRole('row').count(), 101);
  await check();
  await page.getByRole('button', { name: 'Show older versions' }).click();
  await page.getByRole('cell', { name: 'first', exact: true }).waitFor();
  assert.equal(await page.getByRole('row').count(), 103);
  assert.equal(await before.locator('option:checked').innerText(), 'first');
  assert.equal(await page.getByRole('button', { name: 'Show older versions' }).count(), 0);
});

test('archives a prompt after confirmation and lists it as archived', async () => {
  const { promptId, path } = await makePrompt(service, { user: 'Old words' });
  const { key } = await service.key();
  await service.call('PATCH', path, { key, body: { name: 'Old one' } });
  const { page, check } = await visit(`/prompts/${promptId}`, { as: 'editor' });
  await page.getByRole('button', { name: 'Prompt actions' }).click();
  await page.getByRole('menuitem', { name: 'Archive' }).click();
  const dialog = page.getByRole('dialog', { name: 'Archive this prompt?' });
  await dialog.getByText('keep working').waitFor();
  await check();
  await dialog.getByRole('button', { name: 'Archive' }).click();
  await page.getByText('Archived', { exact: true }).waitFor();
  await page.goto('/prompts?q=old');
  await page.getByRole('heading', { name: 'No matches' }).waitFor();
  await page.getByRole('combobox', { name: 'State' }).selectOption('Archived');
  await page.getByRole('link', { name: 'Old one' }).waitFor();
  await check();
});

test("shows the server's message if the list fails", async () => {
  const { page, check } = await visit('/agents', { as: 'viewer', intercepts: true });
  const problem = { error: 'Internal error', message: 'It broke.', code: 'INTERNAL' };
  await page.route('**/api/v1/prompts?*', (route) =>
    route.fulfill({ status: 500, json: { ...problem, requestId: 'req_of_the_test' } }),
  );
  await page.getByRole('link', { name: 'Prompts', exact: true }).click();
  await page.getByRole('alert').getByText('req_of_the_test').waitFor();
  await check();
});
