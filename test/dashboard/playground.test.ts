import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { addAgent, run } from '../../harness/agents.ts';
import { setPrice } from '../../harness/prices.ts';
import { makeAgent, makePrompt } from '../../harness/prompts.ts';
import { ModelFailure } from '../../src/core/model/model-port.ts';
import { countClicks } from './count-clicks.ts';
import { loaded, openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();

/** The column with this letter. */
const column = (page: Page, letter: string) =>
  page.getByRole('region', { name: new RegExp(`^${letter} · `) });

/** Replaces the text of an editor. */
async function typeOver(page: Page, editor: Locator, text: string): Promise<void> {
  await editor.click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type(text);
  await page.keyboard.press('Escape');
}

/** The model of the column. */
const modelOf = (page: Page, letter: string) =>
  column(page, letter).getByRole('combobox', { name: 'Model' });

test('compares two versions in 3 clicks, newest on the right, with their differences', async () => {
  const { promptId, versionIds } = await makePrompt(
    service,
    { user: 'Hello {{name}}' },
    { user: 'Goodbye {{name}}' },
  );
  const { page, check } = await visit(`/prompts/${promptId}`, { as: 'editor' });
  await loaded(page);
  const clicks = await countClicks(page);
  await page.getByRole('link', { name: 'Playground' }).click();
  await page.getByRole('textbox', { name: 'name', exact: true }).fill('Ada');
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByRole('button', { name: 'Run both' }).click();
  const old = page.getByRole('region', { name: 'A · v1' });
  await old.getByText('Hello Ada').waitFor();
  await page.getByRole('region', { name: 'B · v2' }).getByText('Goodbye Ada').waitFor();
  assert.ok((await clicks()) <= 3);
  const text = await old.innerText();
  assert.match(text, /Latency\s+[\d.]+ m?s/);
  assert.match(text, /Input tokens\s+10\s+Output tokens\s+5\s+Cost\s+\$0/);
  const differences = page.getByRole('region', { name: 'Differences', exact: true });
  await differences.locator('del').getByText('Hello').waitFor();
  await differences.locator('ins').getByText('Goodbye').waitFor();
  await check({ inDarkMode: true });

  const { key } = await service.key();
  const list = async (query: string) =>
    (await service.call('GET', `/api/v1/executions${query}`, { key })).body.executions as {
      source: string;
      playground?: true;
      promptVersionId: string;
    }[];
  assert.deepEqual(await list(''), []);
  const runs = await list('?playground=true');
  assert.deepEqual(
    runs.map(({ source, playground }) => [source, playground]),
    [
      ['dashboard', true],
      ['dashboard', true],
    ],
  );
  assert.deepEqual(
    runs.map(({ promptVersionId }) => promptVersionId).toSorted(),
    versionIds.toSorted(),
  );
  assert.equal((await service.call('GET', '/api/v1/agents', { key })).body.pagination.total, 0);
  // The agent was created with one version, pinned to the other, and archived again.
  assert.deepEqual(await audited(), ['agent.move archive', 'agent.pin', 'agent.create']);
  // The differences name what was executed, whatever its column shows by now.
  await old.getByRole('combobox', { name: 'Version' }).selectOption({ label: 'v2' });
  await old.waitFor({ state: 'detached' });
  await differences.locator('del').getByText('Hello').waitFor();
  const from = differences.getByRole('combobox', { name: 'From' });
  await from.getByText('v1').waitFor({ state: 'attached' });
  await page.getByRole('combobox', { name: 'Version' }).first().selectOption({ label: 'v1' });
  await page.getByRole('button', { name: 'Remove A · v1' }).click();
  await column(page, 'B').waitFor({ state: 'detached' });
  await page.getByRole('textbox', { name: 'name', exact: true }).fill('Grace');
  await page.keyboard.press('ControlOrMeta+Enter');
  await page.getByRole('region', { name: 'A · v2' }).getByText('Goodbye Grace').waitFor();
  // Either version may have run last, and so be pinned. This one is now, and is not pinned again.
  await page.getByRole('textbox', { name: 'name', exact: true }).fill('Hopper');
  await page.keyboard.press('ControlOrMeta+Enter');
  await page.getByRole('region', { name: 'A · v2' }).getByText('Goodbye Hopper').waitFor();
  assert.deepEqual((await audited()).slice(0, 2), ['agent.move archive', 'agent.move restore']);
  await page.getByRole('link', { name: 'show them' }).click();
  await page.getByRole('button', { name: 'Remove filter Playground yes' }).waitFor();
  await page.getByText('Playground: Prompt').nth(2).waitFor();
  await check();
});

/** The audited actions on agents, newest first. */
async function audited(): Promise<string[]> {
  const { body } = await service.call('GET', '/api/v1/audit', { user: service.ownerId });
  const lines = body.audit as { action: string; details: { action?: string } }[];
  return lines
    .filter(({ action }) => action.startsWith('agent.'))
    .map(({ action, details }) => [action, details.action].filter(Boolean).join(' '));
}

test('three versions side by side, named by the URL; a column runs alone and shows text as it arrives', async () => {
  const { promptId, versionIds } = await makePrompt(
    service,
    { user: 'One {{name}}' },
    { user: 'Two {{name}}' },
    { user: 'Three {{name}}' },
  );
  const { page, check } = await visit(`/prompts/${promptId}/playground`, {
    as: 'editor',
    viewport: { width: 1440, height: 900 },
  });
  await page.getByRole('textbox', { name: 'name', exact: true }).fill('Ada');
  const unknown = { cost: { usd: '0', known: false } };
  service.models.script(unknown, unknown, unknown);
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByRole('button', { name: 'Add column' }).click();
  await page.getByRole('button', { name: 'Run all three' }).click();
  for (const [letter, text] of [
    ['A', 'One Ada'],
    ['B', 'Two Ada'],
    ['C', 'Three Ada'],
  ] as const) {
    await column(page, letter).getByText(text).waitFor();
  }
  // It has pinned each version, and the workspace's pins leave that out.
  const { key } = await service.key();
  assert.equal((await service.call('GET', '/api/v1/pins', { key })).body.pagination.total, 0);
  for (const letter of ['A', 'B', 'C']) {
    const cost = column(page, letter).getByText('unknown', { exact: true });
    assert.deepEqual(await linesAndOverflow(cost), [1, 0], letter);
  }
  assert.equal(await page.getByRole('button', { name: 'Add column' }).count(), 0);
  assert.equal(
    new URL(page.url()).searchParams.get('versions'),
    [versionIds[0], versionIds[1], 'draft'].join(','),
  );
  const words = page.getByRole('region', { name: 'Differences of the outputs' });
  await words.locator('del').getByText('Two').waitFor();
  await page.getByRole('combobox', { name: 'From' }).selectOption({ label: 'A · v1' });
  await words.locator('del').getByText('One').waitFor();
  await check();

  const [begun, shown] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  service.models.script(async (_, emit) => {
    emit({ type: 'text', text: 'The first words' });
    begun.resolve();
    await shown.promise;
    return { text: ' and the rest.' };
  });
  await page.getByRole('button', { name: 'Run only B · v2' }).click();
  await begun.promise;
  await column(page, 'B').getByText('The first words').waitFor();
  await column(page, 'B').getByText('Running…').waitFor();
  await column(page, 'C').getByText('Three Ada').waitFor();
  shown.resolve();
  await column(page, 'B').getByText('The first words and the rest.').waitFor();
  await page.reload();
  await column(page, 'C').waitFor();
  await page.getByRole('region', { name: 'B · v2' }).waitFor();
});

/** The number of lines of the element's text, and the pixels that it is too wide. */
const linesAndOverflow = (of: Locator) =>
  of.evaluate((one) => {
    const range = one.ownerDocument.createRange();
    range.selectNodeContents(one);
    return [range.getClientRects().length, one.scrollWidth - one.clientWidth];
  });

test('runs a draft unsaved, saves it as a version, and pins it', async () => {
  const prompt = await makePrompt(service, { user: 'Hello {{name}}' });
  const { promptId, path } = prompt;
  const agent = await makeAgent(service, prompt, { visibility: 'public', agentName: 'Greeter' });
  const { page, check, announced } = await visit(`/prompts/${promptId}/playground`, {
    as: 'owner',
  });
  const template = page.getByRole('textbox', { name: 'User template' });
  const type = (text: string) => typeOver(page, template, text);
  await type('Farewell {{name}} and {{other}}');
  await page.getByText('The draft runs as it is.').waitFor();
  await column(page, 'A').getByRole('combobox', { name: 'Version' }).getByText('Draft').waitFor({
    state: 'attached',
  });
  await page.getByRole('textbox', { name: 'name', exact: true }).fill('Ada');
  await page.getByRole('textbox', { name: 'other', exact: true }).fill('Bob');
  await check();
  // In the editor, the key runs and inserts no line.
  await template.click();
  await page.keyboard.press('ControlOrMeta+Enter');
  await page.getByRole('region', { name: 'A · Draft' }).getByText('Farewell Ada and Bob').waitFor();
  const { key } = await service.key();
  const labels = async () =>
    (await service.call('GET', `${path}/versions`, { key })).body.versions.map(
      (one: { promptVersionLabel: string }) => one.promptVersionLabel,
    );
  assert.deepEqual(await labels(), ['v1']);

  await type('Later, {{name}}');
  await page.getByRole('button', { name: 'Save as version' }).click();
  const dialog = page.getByRole('dialog', { name: 'Save as version' });
  await dialog.getByRole('textbox', { name: 'Label' }).fill('short');
  await check();
  await dialog.getByRole('button', { name: 'Save version' }).click();
  await announced('Saved as short');
  await page.getByRole('region', { name: 'A · short' }).waitFor();
  assert.deepEqual(await labels(), ['short', 'v1']);
  await page.getByRole('button', { name: 'Pin to… for short' }).click();
  const pinTo = page.getByRole('dialog', { name: 'Pin short to…' });
  await pinTo.getByText('Greeter').waitFor();
  await check({ inDarkMode: true });
  await pinTo.getByRole('button', { name: 'Pin short' }).click();
  await page
    .getByRole('dialog', { name: 'Pin short?' })
    .getByRole('button', { name: 'Pin short' })
    .click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const pinned = await service.call('GET', agent.path, { key });
  assert.equal(pinned.body.promptVersionLabel, 'short');
  await type(' ');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Delete');
  await page.getByText('The user template is empty.').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Run', exact: true }).isEnabled(), false);
  await page.getByRole('button', { name: 'Discard draft' }).click();
  await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
});

test('changes made while the first draft is saved stay, and the user stays on the page they went to', async () => {
  const start = async () => {
    const { promptId } = await makePrompt(service);
    const { page } = await visit(`/prompts/${promptId}/playground`, {
      as: 'owner',
      intercepts: true,
    });
    const template = page.getByRole('textbox', { name: 'User template' });
    await typeOver(page, template, 'First');
    await page.getByRole('combobox', { name: 'Model' }).first().fill('cueline/echo');
    await page.keyboard.press('Escape');
    const [sent, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route('**/versions', async (route) => {
      sent.resolve();
      await held.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Save draft and run' }).click();
    await sent.promise;
    await page.unroute('**/versions');
    return { page, template, save: held.resolve };
  };
  const { page, template, save } = await start();
  await typeOver(page, template, 'Second');
  save();
  await column(page, 'A').getByText('First', { exact: true }).waitFor();
  await page.getByRole('region', { name: 'A · Draft' }).waitFor();
  await template.getByText('Second').waitFor();

  const left = await start();
  await left.page.getByRole('link', { name: 'Agents' }).click();
  await left.page.getByRole('heading', { name: 'Agents', exact: true }).waitFor();
  const runs = left.page.waitForRequest((request) => request.url().includes('tag=playground'));
  left.save();
  await runs;
  assert.equal(new URL(left.page.url()).pathname, '/agents');
});

test('writes the first version of a prompt in the playground', async () => {
  const { promptId } = await makePrompt(service);
  const { page, check } = await visit(`/prompts/${promptId}/playground`, { as: 'editor' });
  await page.getByText('No versions yet. Write the first one.').waitFor();
  await check();
  await page.getByRole('textbox', { name: 'User template' }).click();
  await page.keyboard.type('Hi');
  await page.getByRole('combobox', { name: 'Model' }).first().fill('cueline/echo');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Save draft and run' }).click();
  await page.getByRole('region', { name: 'A · v1' }).getByText('success').waitFor();
});

test('takes variables from an execution, and saves them as a set in the browser', async () => {
  const prompt = await makePrompt(service, { user: 'Hello {{name}}' });
  const agent = await makeAgent(service, prompt, { visibility: 'public' });
  const { key } = await service.key();
  for (const action of ['enable-api', 'deploy']) {
    await service.call('POST', `${agent.path}/lifecycle`, { key, body: { action } });
  }
  await run(service, agent, key, { name: 'Grace' });
  const elsewhere = await run(service, await addAgent(service), key, { name: 'Linus' });
  const { page, check, announced } = await visit(`/prompts/${prompt.promptId}/playground`, {
    as: 'editor',
  });
  const field = page.getByRole('textbox', { name: 'name', exact: true });
  const open = async (item: string) => {
    await page.getByRole('button', { name: 'Fill or save' }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  const waitForValue = async (value: string) => {
    while ((await field.inputValue()) !== value) await page.waitForTimeout(20);
  };
  await open('From an execution…');
  const dialog = page.getByRole('dialog', { name: 'Variables from an execution' });
  await dialog.getByRole('button', { name: /success/ }).waitFor();
  await check();
  await dialog.getByRole('button', { name: /success/ }).click();
  await waitForValue('Grace');

  await open('Save or delete values…');
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Admiral');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await announced('Values saved');
  await open('From an execution…');
  await dialog.getByRole('textbox', { name: 'Execution ID' }).fill('exe_nothing');
  await dialog.getByRole('button', { name: 'Use' }).click();
  await dialog.getByText('Not found. You may not have access; ask an owner.').waitFor();
  await dialog.getByRole('textbox', { name: 'Execution ID' }).fill(elsewhere.executionId);
  await dialog.getByRole('button', { name: 'Use' }).click();
  await waitForValue('Linus');
  await page.reload();
  await loaded(page);
  await open('Admiral');
  await waitForValue('Grace');
  await open('Save or delete values…');
  await check();
  await page.getByRole('button', { name: 'Delete Admiral' }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Fill or save' }).click();
  await page.getByRole('menuitem', { name: 'From an execution…' }).waitFor();
  assert.equal(await page.getByRole('menuitem', { name: 'Admiral' }).count(), 0);
});

test('compares JSON regardless of the order of fields, or by words', async () => {
  const { promptId } = await makePrompt(service, { user: 'Old' }, { user: 'New' });
  const byPrompt = async ({ user }: { user: string }) => ({
    text: user === 'Old' ? '{"b": 1.50, "a": [1]}' : '{"a": [1], "b": 1.50}',
  });
  service.models.script(byPrompt, byPrompt);
  const { page, check } = await visit(`/prompts/${promptId}/playground`, { as: 'editor' });
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByRole('button', { name: 'Run both' }).click();
  const differences = page.getByRole('region', { name: 'Differences', exact: true });
  await differences.getByText('No difference.').waitFor();
  await check();
  await differences.getByText('Words').click();
  await differences.locator('ins').first().waitFor();
  const changed = async () => ({ text: '{"a": [1, 2], "b": 1.50}' });
  service.models.script(changed);
  await page.getByRole('button', { name: /^Run only B/ }).click();
  await differences.getByText('JSON', { exact: true }).click();
  await differences.locator('ins').getByText('2').waitFor();
});

test("shows the server's message for a failed execution", async () => {
  const { promptId } = await makePrompt(service, { user: 'Hello' });
  const { page, check } = await visit(`/prompts/${promptId}/playground`, { as: 'owner' });
  await modelOf(page, 'A').fill('no model');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('alert').getByText('req_').waitFor();
  await check();
});

test('compares two models of one version, of which one fails', async () => {
  const { promptId } = await makePrompt(service, { user: 'Hello {{name}}' });
  const byModel = async ({ model }: { model: string }) => {
    if (model === 'vendor/broken') throw new ModelFailure('PROVIDER_AUTH', 'No such key.');
    return { text: `This is ${model}` };
  };
  service.models.script(byModel, byModel);
  const { page, check } = await visit(`/prompts/${promptId}/playground`, { as: 'editor' });
  await page.getByRole('textbox', { name: 'name', exact: true }).fill('Ada');
  await page.getByRole('button', { name: 'Compare' }).click();
  await modelOf(page, 'A').fill('vendor/large');
  await page.keyboard.press('Escape');
  await modelOf(page, 'B').fill('vendor/broken');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Run both' }).click();
  await column(page, 'A').getByText('This is vendor/large').waitFor();
  await column(page, 'B').getByText('No such key.').waitFor();
  await column(page, 'B').getByText('PROVIDER_AUTH').waitFor();
  assert.equal(await column(page, 'A').getByText('No such key.').count(), 0);
  assert.equal(await page.getByRole('region', { name: 'Differences' }).count(), 0);
  assert.match(await column(page, 'A').innerText(), /success[\s\S]+Latency\s+[\d.]+ m?s/);
  await check();
});

test('a viewer sees why there is nothing to run', async () => {
  const { promptId } = await makePrompt(service, { user: 'Hello' });
  const { page, check } = await visit(`/prompts/${promptId}/playground`, { as: 'viewer' });
  await page.getByText('Running requires the editor role').waitFor();
  await check();
});

test('on a narrow screen the columns are below each other, and nothing is wider than the window', async () => {
  const { promptId, versionIds } = await makePrompt(service, { user: 'Hello' }, { user: 'Bye' });
  const versions = versionIds.join(',');
  const { page, check } = await visit(`/prompts/${promptId}/playground?versions=${versions}`, {
    as: 'editor',
    viewport: { width: 390, height: 844 },
  });
  const boxes = await Promise.all(
    ['A', 'B'].map(async (letter) => {
      await column(page, letter).waitFor();
      return column(page, letter).boundingBox();
    }),
  );
  assert.ok((boxes[0]?.y ?? 0) + (boxes[0]?.height ?? 0) <= (boxes[1]?.y ?? 0));
  const width = 'document.documentElement.scrollWidth <= window.innerWidth';
  assert.equal(await page.evaluate(width), true);
  await check();
});

test('a limit of cost refuses a run that may cost more', async () => {
  const { promptId } = await makePrompt(service, { user: 'Hello', model: 'mine/dear' });
  await setPrice(service, 'mine/dear', { inputPerMillion: '0', outputPerMillion: '1000' });
  const { page } = await visit(`/prompts/${promptId}/playground`, { as: 'editor' });
  await page.getByRole('textbox', { name: 'Max cost per execution (USD)' }).fill('0.001');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await column(page, 'A')
    .getByText(/may cost up to 4\.096 USD, which is more than the limit of 0\.001 USD/)
    .waitFor();
});
