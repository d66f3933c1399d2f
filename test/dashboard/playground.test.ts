import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makePrompt } from '../../harness/prompts.ts';
import { ModelFailure } from '../../src/core/model/model-port.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();

test('executes two versions side by side, recorded with the source dashboard', async () => {
  const { promptId, versionIds } = await makePrompt(
    service,
    { user: 'Hello {{name}}' },
    { user: 'Goodbye {{name}}' },
  );
  const { page, check } = await visit(`/prompts/${promptId}/playground`, { as: 'editor' });
  await page.getByRole('textbox', { name: 'name' }).fill('Ada');
  await page.getByRole('button', { name: 'Compare' }).click();
  await check();
  await page.getByRole('button', { name: 'Run both' }).click();
  await page.getByRole('region', { name: 'Left' }).getByText('Goodbye Ada').waitFor();
  await page.getByRole('region', { name: 'Right' }).getByText('Hello Ada').waitFor();
  assert.match(
    await page.getByRole('region', { name: 'Left' }).innerText(),
    /Latency\s+[\d.]+ m?s/,
  );
  await check();
  const { key } = await service.key();
  const history = await service.call('GET', '/api/v1/executions', { key });
  const runs = history.body.executions as { source: string; promptVersionId: string }[];
  assert.deepEqual(
    runs.map(({ source }) => source),
    ['dashboard', 'dashboard'],
  );
  assert.deepEqual(
    runs.map(({ promptVersionId }) => promptVersionId).toSorted(),
    versionIds.toSorted(),
  );
  assert.equal((await service.call('GET', '/api/v1/agents', { key })).body.pagination.total, 0);
  // The agent was created with one version, pinned to the other, and archived again.
  assert.deepEqual(await audited(), ['agent.move archive', 'agent.pin', 'agent.create']);
  await page.getByRole('button', { name: 'Stop comparing' }).click();
  await page.getByRole('region', { name: 'Right' }).waitFor({ state: 'detached' });
  await page.getByRole('combobox', { name: 'Version' }).selectOption({ label: 'v1' });
  await page.getByRole('textbox', { name: 'name' }).fill('Grace');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('Hello Grace').waitFor();
  // A version that is already pinned is not pinned again.
  assert.deepEqual((await audited()).slice(0, -3), ['agent.move archive', 'agent.move restore']);
});

/** The audited actions on agents, newest first. */
async function audited(): Promise<string[]> {
  const { body } = await service.call('GET', '/api/v1/audit', { user: service.ownerId });
  const lines = body.audit as { action: string; details: { action?: string } }[];
  return lines
    .filter(({ action }) => action.startsWith('agent.'))
    .map(({ action, details }) => [action, details.action].filter(Boolean).join(' '));
}

test('saves a draft as a version before executing it', async () => {
  const { promptId } = await makePrompt(service, { user: 'Hello {{name}}' });
  const { page } = await visit(`/prompts/${promptId}`, { as: 'owner' });
  await page.getByRole('textbox', { name: 'User template' }).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('Farewell {{name}} and {{other}}');
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Playground' }).click();
  await page.getByText('The draft will be saved as a version first.').waitFor();
  await page.getByRole('textbox', { name: 'name' }).fill('Ada');
  await page.getByRole('textbox', { name: 'other' }).fill('Bob');
  await page.getByRole('button', { name: 'Save draft and run' }).click();
  await page.getByText('Farewell Ada and Bob').waitFor();
  assert.match(await page.getByRole('region', { name: 'Run' }).innerText(), /success\s+v2/);
});

test("shows the server's message for a failed execution", async () => {
  const { promptId } = await makePrompt(service, { user: 'Hello' });
  const { page, check } = await visit(`/prompts/${promptId}/playground`, { as: 'owner' });
  await page.getByRole('combobox', { name: 'Model' }).fill('no model');
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
  await page.getByRole('textbox', { name: 'name' }).fill('Ada');
  await page.getByRole('button', { name: 'Compare' }).click();
  const [left, right] = ['Left', 'Right'].map((name) => page.getByRole('region', { name }));
  assert.ok(left && right);
  await left.getByRole('combobox', { name: 'Model' }).fill('vendor/large');
  await page.keyboard.press('Escape');
  await right.getByRole('combobox', { name: 'Model' }).fill('vendor/broken');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Run both' }).click();
  await left.getByText('This is vendor/large').waitFor();
  await right.getByText('No such key.').waitFor();
  await right.getByText('PROVIDER_AUTH').waitFor();
  assert.equal(await left.getByText('No such key.').count(), 0);
  assert.match(await left.innerText(), /success[\s\S]+Latency\s+[\d.]+ m?s/);
  await check();
});

test('compares two versions, of which one fails', async () => {
  const { promptId } = await makePrompt(
    service,
    { user: 'Old {{name}}' },
    { user: 'New {{name}}' },
  );
  const byPrompt = async ({ user }: { user: string }) => {
    if (user.startsWith('Old')) throw new ModelFailure('CONTENT_FILTERED', 'Not this.');
    return { text: `Answer to ${user}` };
  };
  service.models.script(byPrompt, byPrompt);
  const { page, check } = await visit(`/prompts/${promptId}/playground`, { as: 'editor' });
  await page.getByRole('textbox', { name: 'name' }).fill('Ada');
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByRole('button', { name: 'Run both' }).click();
  await page.getByRole('region', { name: 'Left' }).getByText('Answer to New Ada').waitFor();
  await page.getByRole('region', { name: 'Right' }).getByText('Not this.').waitFor();
  await check();
});
