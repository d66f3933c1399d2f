import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { addAgent } from '../../harness/agents.ts';
import { makeWorkflow } from '../../harness/created-workflows.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();
const { key } = await service.key();
const [sorter, writer] = await Promise.all([named('Sorter'), named('Writer')]);
await Promise.all([named('Twin'), named('Twin')]);

async function named(agentName: string) {
  const agent = await addAgent(service);
  await service.call('PATCH', agent.path, { key, body: { agentName } });
  return agent;
}

/** Two steps, the second of which waits for the first. */
function twoSteps() {
  return {
    input: { required: ['name'] },
    steps: [
      { name: 'sort', agentId: sorter.agentId, variables: { name: '{{input.name}}' } },
      { name: 'write', agentId: writer.agentId, variables: { name: '{{steps.sort.output}}' } },
    ],
  };
}

async function openEditor(definition: object = twoSteps()) {
  const { workflowId } = await makeWorkflow(service, definition);
  const visited = await visit(`/workflows/${workflowId}/definition`, { as: 'editor' });
  const { page } = visited;
  const text = page.getByRole('textbox', { name: 'Definition' });
  const graph = page.getByRole('region', { name: 'Steps of the definition' });
  const problems = page.getByRole('list', { name: 'Problems' });
  await text.waitFor();
  return { ...visited, workflowId, text, graph, problems };
}

/** Replaces the whole text. */
async function write(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Definition' }).click();
  await page.keyboard.press('ControlOrMeta+A');
  // Text that replaces a selection would get an inline style, which the page's policy blocks with a warning.
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
}

test('the graph beside the text follows it, and names agents', async () => {
  const { page, check, text, graph } = await openEditor();
  await text.getByText('agent: Sorter').waitFor();
  await graph.getByRole('button', { name: /^write.*Writer.*waits for sort$/s }).waitFor();
  await check({ inDarkMode: true });
  await page.getByText('JSON', { exact: true }).click();
  await text.getByText('"agent": "Writer"').waitFor();
  await page.getByText('YAML', { exact: true }).click();
  await text.click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.insertText(
    '  - name: check\n    agent: Sorter\n    variables: {name: "{{steps.write.output}}"}\n',
  );
  await graph.getByRole('button', { name: /^check.*Sorter.*waits for write$/s }).waitFor();
  await page.getByText('Valid.').waitFor();
  // The graph leads to the text.
  await graph.getByRole('button', { name: /^check/ }).click();
  await page.keyboard.insertText('# here\n');
  assert.match(await text.innerText(), /# here\n\s*- name: check|- # here\n\s*name: check/);
  // While the text cannot be parsed, the graph stays.
  await page.keyboard.insertText('[');
  await page.getByRole('list', { name: 'Problems' }).waitFor();
  assert.equal(await graph.getByRole('button', { name: /^(sort|write|check)/ }).count(), 3);
  await check();
});

test('a problem disappears once it is fixed while others remain, even one that occurred twice', async () => {
  const { page, check, text, graph, problems } = await openEditor();
  const twice = 'name: "{{input.}} {{input.}}"';
  const definition = (value: string, after: string, output: string) => `input:
  required: [name]
steps:
  - name: sort
    agent: Sorter
    variables: {${value}}
  - name: write
    agent: Writer
    after: [${after}]
    variables: {name: x}
output: "${output}"
`;
  const fixed = 'name: "{{input.name}}"';
  await write(page, definition(twice, 'nobody', '{{steps.none.output}}'));
  const [misspelled, unknown, missing] = ['{{input.}} is not', '"nobody"', '"none"'].map((words) =>
    problems.getByText(words),
  );
  assert.ok(misspelled && unknown && missing);
  await missing.waitFor();
  assert.deepEqual(await problems.getByRole('listitem').allInnerTexts(), [
    'Line 6\nsort: {{input.}} is not a valid reference.',
    'Line 9\nwrite: There is no step "nobody".',
    'Line 11\nThere is no step "none".',
  ]);
  await graph.getByRole('button', { name: /^sort.*1 problem/s }).waitFor();
  await check({ inDarkMode: true });
  await write(page, definition(fixed, 'nobody', '{{steps.none.output}}'));
  await misspelled.waitFor({ state: 'detached' });
  assert.equal(await problems.getByRole('listitem').count(), 2);
  await graph.getByRole('button', { name: /^sort(?!.*problem)/s }).waitFor();
  await write(page, definition(fixed, 'sort', '{{steps.none.output}}'));
  await unknown.waitFor({ state: 'detached' });
  assert.equal(await problems.getByRole('listitem').count(), 1);
  assert.equal(await page.locator('.cm-problem-line').count(), 1);
  await write(page, definition(fixed, 'sort', '{{steps.write.output}}'));
  await page.getByText('Valid.').waitFor();
  assert.equal(await problems.count(), 0);
  await problems.waitFor({ state: 'detached' });
  // A step with the name of another one.
  await write(page, (await text.innerText()).replace('name: write', 'name: sort'));
  await problems.getByText('Another step has the name "sort".').waitFor();
});

test('agents are completed by name, and names that identify none are problems', async () => {
  const { page, check, text, problems } = await openEditor();
  await write(page, 'steps:\n  - name: a\n    agent: ');
  await page.keyboard.type('Writ');
  const suggestion = page.getByRole('option', { name: 'Writer' });
  await suggestion.waitFor();
  await check();
  await suggestion.click();
  await text.getByText('agent: Writer').waitFor();
  await problems
    .getByText('The agent "Writer" requires variables that are not set: name.')
    .waitFor();
  await page.keyboard.insertText('\n    variables: {name: "');
  await page.keyboard.type('{{');
  await page.keyboard.insertText(
    'item}}"}\n  - name: b\n    agent: Nobody\n  - {name: c, agent: Twin}\n',
  );
  await problems.getByText('b: There is no agent "Nobody".').waitFor();
  await problems.getByText('c: 2 agents are called "Twin".').waitFor();
  await problems.getByText('{{item}} is defined only in a step with "forEach".').waitFor();
  assert.deepEqual((await problems.getByRole('button').allInnerTexts()).toSorted(), [
    'Line 4',
    'Line 6',
    'Line 7',
  ]);
  await page.getByRole('button', { name: 'Line 6' }).click();
  await page.keyboard.press('End');
  for (const _ of 'Nobody') await page.keyboard.press('Backspace');
  await page.keyboard.insertText('Sorter');
  await problems.getByText('"Nobody"').waitFor({ state: 'detached' });
});

test('steps are added, edited and deleted by form, and comments stay', async () => {
  const { page, check, text, graph, workflowId } = await openEditor();
  await text.click();
  await page.keyboard.press('ControlOrMeta+Home');
  await page.keyboard.insertText('# Who reads this\n');
  await page.getByRole('button', { name: 'Add step' }).click();
  await page.getByText('1 problem', { exact: true }).first().waitFor();
  await check({ inDarkMode: true });
  const agent = page.getByRole('combobox', { name: 'Agent', exact: true });
  await agent.click();
  await agent.fill('Sort');
  await page.getByRole('option', { name: 'Sorter' }).click();
  // An input of the variable's name is passed on.
  const value = page.getByRole('combobox', { name: 'name (required)' });
  await page.getByText('Valid.').waitFor();
  assert.equal(await value.inputValue(), '{{input.name}}');
  await value.fill('{{steps.write.output}}');
  await page.keyboard.press('Escape');
  await graph.getByRole('button', { name: /^step_3.*Sorter.*waits for write$/s }).waitFor();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('sort');
  await page.getByText('Another step has this name.').waitFor();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('last');
  await page.getByRole('textbox', { name: 'Condition' }).fill("steps.write.output != ''");
  await page.getByRole('checkbox', { name: 'Once for each item of a list' }).check();
  await page.getByRole('combobox', { name: 'List' }).fill('{{steps.write.output}}');
  await page.keyboard.press('Escape');
  await page.getByRole('textbox', { name: 'At most' }).fill('7');
  await page.getByRole('combobox', { name: 'If it fails' }).selectOption('continue');
  await page.getByRole('combobox', { name: 'Fallback' }).selectOption('A fixed output');
  await page.getByRole('combobox', { name: 'Fixed output' }).fill('None');
  await page.keyboard.press('Escape');
  // Another choice does not discard it.
  await page.getByRole('combobox', { name: 'Fallback' }).selectOption('None');
  await page.getByRole('combobox', { name: 'Fixed output' }).waitFor({ state: 'detached' });
  await page.getByRole('combobox', { name: 'Fallback' }).selectOption('A fixed output');
  await page.getByText('Valid.').waitFor();
  await check({ inDarkMode: true });

  // A rename renames the references.
  await page.getByRole('button', { name: 'Done' }).click();
  await check();
  await page.getByRole('button', { name: 'write', exact: true }).click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('compose');
  await page.keyboard.press('Enter');
  await graph.getByRole('button', { name: /^last.*waits for compose$/s }).waitFor();
  await page.getByRole('combobox', { name: 'Fallback' }).selectOption('Another agent');
  const other = page.getByRole('combobox', { name: 'Agent of the fallback' });
  await other.click();
  await page.getByRole('option', { name: 'Sorter' }).click();
  await page.getByText('Valid.').waitFor();
  await graph.getByRole('button', { name: /^sort/ }).click();
  await page.getByText('YAML', { exact: true }).click();
  const written = await text.innerText();
  assert.match(written, /^# Who reads this\n/);
  assert.match(written, /name: compose\n\s+agent: Writer/);
  assert.match(written, /when: steps\.compose\.output != ''/);
  await page.getByRole('button', { name: 'Save version' }).click();
  await page.getByText('Saved as v2').waitFor();
  const { body } = await service.call('GET', `/api/v1/workflows/${workflowId}`, { key });
  const [, compose, last] = body.definition.steps;
  assert.deepEqual(compose.fallback, {
    agentId: sorter.agentId,
    variables: { name: '{{input.name}}' },
  });
  assert.deepEqual(last, {
    ...{ name: 'last', agentId: sorter.agentId, after: [], onFailure: 'continue' },
    ...{ when: "steps.compose.output != ''", onUnreadable: 'fail' },
    forEach: { list: '{{steps.compose.output}}', concurrency: 5, max: 7 },
    variables: { name: '{{steps.compose.output}}' },
    fallback: { output: 'None' },
  });
  await page.getByText('Form', { exact: true }).click();
  await graph.getByRole('button', { name: /^last/ }).click();
  await page.getByRole('button', { name: 'Delete step' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete the step last?' });
  await check();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  await graph.getByRole('button', { name: /^last/ }).waitFor();
  await page.getByRole('button', { name: 'Delete step' }).click();
  await dialog.getByRole('button', { name: 'Delete step' }).click();
  await graph.getByRole('button', { name: /^last/ }).waitFor({ state: 'detached' });
  await page.getByText('Valid.').waitFor();
});

test('a value keeps the focus while it grows long', async () => {
  const { page, graph } = await openEditor();
  await page.getByText('Form', { exact: true }).click();
  await graph.getByRole('button', { name: /^write/ }).click();
  const value = page.getByRole('combobox', { name: 'name (required)' });
  await value.fill('w'.repeat(118));
  await page.keyboard.press('End');
  await page.keyboard.type(' and more');
  assert.equal(await value.inputValue(), `${'w'.repeat(118)} and more`);
  await page.locator(':focus').and(value).waitFor();
});

test('the agents of a step say that they are searched, or could not be', async () => {
  const { workflowId } = await makeWorkflow(service, twoSteps());
  const path = `/workflows/${workflowId}/definition`;
  const { page } = await visit(path, { as: 'editor', intercepts: true });
  const graph = page.getByRole('region', { name: 'Steps of the definition' });
  await page.getByText('Form', { exact: true }).click();
  await graph.getByRole('button', { name: /^write/ }).click();
  const search = Promise.withResolvers<void>();
  await page.route('**/api/v1/agents?*q=Nobody*', async (route) => {
    await search.promise;
    const json = { message: 'Out of order.', code: 'INTERNAL_ERROR' };
    await route.fulfill({ status: 500, json });
  });
  const agent = page.getByRole('combobox', { name: 'Agent', exact: true });
  await agent.click();
  await agent.fill('Nobody');
  await page.getByText('Searching…').waitFor();
  search.resolve();
  await page.getByText('Could not search the agents').waitFor();
  await agent.fill('No one');
  await page.getByText('No deployed agent matches').waitFor();
});

test('viewers see the graph and the text without forms', async () => {
  const { workflowId } = await makeWorkflow(service, twoSteps());
  const { page, check } = await visit(`/workflows/${workflowId}/definition`, { as: 'viewer' });
  await page.getByRole('region', { name: 'Steps of the definition' }).waitFor();
  assert.equal(await page.getByText('Form', { exact: true }).count(), 0);
  assert.equal(await page.getByRole('button', { name: 'Add step' }).count(), 0);
  await check();
});

test('a template creates its agents, and replaces a changed definition only after a question', async () => {
  const { page, check } = await visit('/workflows/new', { as: 'editor' });
  await page.getByText('Valid.').waitFor();
  await check({ inDarkMode: true });
  const start = page.getByRole('region', { name: 'Start from' });
  await start.getByRole('button', { name: /^Two models with a judge/ }).click();
  await page.getByText('No provider is set up for').waitFor();
  await page.getByText('3 problems', { exact: true }).waitFor();
  await check({ inDarkMode: true });
  await page.getByRole('button', { name: 'Create prompts and agents' }).click();
  await page.getByText('Valid.').waitFor();
  await page.getByText('Agents of this template').waitFor({ state: 'detached' });
  const name = page.getByRole('textbox', { name: 'Name', exact: true });
  assert.equal(await name.inputValue(), 'two-models-with-a-judge');
  await write(page, 'steps: []\n');
  await start.getByRole('button', { name: /^A nightly report/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Replace the definition?' });
  await check();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('No steps yet.').waitFor();
  await start.getByRole('button', { name: /^A nightly report/ }).click();
  await dialog.getByRole('button', { name: 'Replace' }).click();
  await page.getByRole('button', { name: /^summaries.*for each/s }).waitFor();
  assert.equal(await name.inputValue(), 'nightly-report');
  await page.getByRole('button', { name: 'Discard draft' }).click();
  await page.getByRole('button', { name: /^first/ }).waitFor();
  // What is unchanged is replaced without a question, even as JSON, and stays JSON.
  await page.getByText('JSON', { exact: true }).click();
  const text = page.getByRole('textbox', { name: 'Definition' });
  await text.getByText('"first"').waitFor();
  await start.getByRole('button', { name: /^A nightly report/ }).click();
  await text.getByText('"summaries"').first().waitFor();
  await start.getByRole('button', { name: /^One step/ }).click();
  await text.getByText('"first"').waitFor();
  await page.getByText('Valid.').waitFor();
});
