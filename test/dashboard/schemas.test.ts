import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { jsonProblem } from '../../dashboard/data/text/json-problem.ts';
import { makeAgent, makePrompt, move } from '../../harness/prompts.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();

/** Replaces the text of a CodeMirror editor. */
async function type(page: Page, editor: Locator, text: string): Promise<void> {
  await editor.click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

test('a syntax error names its line', () => {
  assert.equal(jsonProblem('{"a": 1}'), null);
  assert.deepEqual(jsonProblem('{\n"a": x}'), { message: 'Not valid JSON: line 2.', line: 2 });
  assert.equal(jsonProblem('{\n"a": 1\n\n')?.line, 2);
});

test('edits the schemas of a version with validation, and compares them', async () => {
  const { promptId, path, versionIds } = await makePrompt(service, { user: 'Count {{n}}.' });
  const { page, check } = await visit(`/prompts/${promptId}`, { as: 'editor' });
  const output = page.getByRole('textbox', { name: 'Output schema' });
  const schemas = page.getByRole('textbox', { name: 'Schemas of variables' });
  const save = page.getByRole('button', { name: 'Save version' });
  await type(page, output, '{"type":\n oops}');
  await page.getByText('Not valid JSON: line 2.').waitFor();
  assert.ok(await save.isDisabled());
  await check({ inDarkMode: true });
  await type(page, output, '{"type": "object", "required": ["sum"]}');
  await type(page, schemas, '{"m": {"type": "integer"}}');
  await page.getByText('The templates do not use {{m}}.').waitFor();
  await type(page, schemas, '{"n": {"type": "nonsense"}}');
  await save.click();
  await page.getByRole('alert').getByText('“n” in “Schemas of variables” is not a valid').waitFor();
  await type(page, schemas, '{"n": {"type": "string", "pattern": "^[0-9]+$"}}');
  await type(page, output, '{"type": "nonsense"}');
  await save.click();
  await page.getByRole('alert').getByText('“Output schema” is not a valid').waitFor();
  await type(page, output, '{"type": "object", "required": ["sum"]}');
  await save.click();
  await page.getByRole('status').getByText('Saved as v2.').waitFor();
  const { key } = await service.key();
  const { versions } = (await service.call('GET', `${path}/versions`, { key })).body;
  const id = versions[0].promptVersionId;
  const { body } = await service.call('GET', `${path}/versions/${id}`, { key });
  const schema = { type: 'object', required: ['sum'] };
  assert.deepEqual(body.responseFormat, { type: 'json', schema });
  assert.deepEqual(body.variableSchemas, { n: { type: 'string', pattern: '^[0-9]+$' } });
  await page.goto(
    `${service.url}/prompts/${promptId}/versions?before=${versionIds[0]}&after=${id}`,
  );
  await page.getByRole('region', { name: 'Output schema template' }).waitFor();
  await page.getByRole('region', { name: 'Schemas of variables template' }).waitFor();

  const pinned = { promptId, path, versionIds: [id] };
  const agent = await makeAgent(service, pinned, { visibility: 'public' });
  await move(service, agent, 'enable-api');
  service.models.script({ text: 'The sum:\n```json\n{"sum":12}\n```' });
  const run = await service.call('POST', `${agent.path}/execute`, {
    key,
    body: { variables: { n: '12' } },
  });
  await service.call('GET', `${run.body.statusUrl}?wait=30`, { key });
  await page.goto(`${service.url}/history/${agent.agentId}/${run.body.executionId}`);
  const region = page.getByRole('region', { name: 'Output' });
  await region.getByText('"sum": 12').waitFor();
  await region.getByText('Text', { exact: true }).click();
  await region.getByText('The sum:').waitFor();
});

test('an agent overrides the rarer settings of calls', async () => {
  const agent = await makeAgent(service, await makePrompt(service, { user: 'U', seed: 3 }));
  const { page, check } = await visit(`/agents/${agent.agentId}/settings`, { as: 'owner' });
  await page.getByText('More settings').click();
  await page.getByLabel('Reasoning effort').selectOption('high');
  await page.getByLabel('Prompt caching').selectOption('off');
  await page.getByLabel('Seed').fill('7');
  await page.getByLabel('Presence penalty').fill('-1.5');
  await page.getByLabel('Stop texts').fill('END\nSTOP');
  const options = page.getByRole('textbox', { name: 'Provider options' });
  await type(page, options, '{"openai": ');
  await page.getByText(/Not valid JSON/).waitFor();
  await type(page, options, '{"openai": {"store": true}}');
  await type(page, page.getByRole('textbox', { name: 'Output schema' }), '{"type": "object"}');
  await check({ inDarkMode: true });
  await page.getByRole('button', { name: 'Save changes' }).click();
  const { key } = await service.key();
  const read = async () => (await service.call('GET', agent.path, { key })).body.agentConfig;
  await page.getByRole('button', { name: 'Save changes' }).isDisabled();
  await page.locator('[data-changed]').waitFor({ state: 'detached' });
  assert.deepEqual(await read(), {
    ...{ reasoningEffort: 'high', cachePrompt: false, seed: 7, presencePenalty: -1.5 },
    stop: ['END', 'STOP'],
    providerOptions: { openai: { store: true } },
    responseFormat: { type: 'json', schema: { type: 'object' } },
  });
  await page.getByLabel('Stop texts').fill('');
  await type(page, options, ' ');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.locator('[data-changed]').waitFor({ state: 'detached' });
  const { stop, providerOptions, seed } = await read();
  assert.deepEqual([stop, providerOptions, seed], [undefined, undefined, 7]);
});

test('labels are kept when an execution is run again', async () => {
  const agent = await makeAgent(service, await makePrompt(service, { user: 'U' }));
  await move(service, agent, 'enable-api');
  const { key } = await service.key();
  const labels = { user: 'u1', session: 's1', tags: ['a', 'b'], metadata: { note: 'x, y=z' } };
  const first = await service.call('POST', `${agent.path}/execute`, {
    key,
    body: { variables: {}, ...labels },
  });
  await service.call('GET', `${first.body.statusUrl}?wait=30`, { key });
  const { page } = await visit(`/history/${agent.agentId}/${first.body.executionId}`, {
    as: 'owner',
  });
  await page.getByRole('button', { name: 'Run again' }).click();
  const dialog = page.getByRole('dialog', { name: /again/ });
  await dialog.getByLabel('Session').fill('s2');
  await dialog.getByRole('button', { name: 'Run', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  const { executions } = (await service.call('GET', `${agent.path}/executions`, { key })).body;
  const { user, session, tags, metadata } = executions[0];
  assert.deepEqual({ user, session, tags, metadata }, { ...labels, session: 's2' });
});
