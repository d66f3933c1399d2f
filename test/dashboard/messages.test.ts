import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makePrompt } from '../../harness/prompts.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();

test('writes messages, moves them, adds settings as JSON, and compares versions', async () => {
  const { promptId, path } = await makePrompt(service, { system: 'Be brief.', user: '{{a}}' });
  const { page, check } = await visit(`/prompts/${promptId}`, { as: 'editor' });
  await page.getByRole('button', { name: 'Use a list of messages' }).click();
  await page.getByRole('button', { name: 'Add message' }).click();
  await page.getByLabel('Role of message 3').selectOption({ label: 'List of messages' });
  await page.getByLabel('Variable of message 3').fill('history');
  await page.getByRole('button', { name: 'Move message 3 up' }).click();
  const settings = page.getByLabel('Tools and more settings as JSON');
  await settings.fill('{"sed": 7}');
  await page.getByText('Unknown field "sed".').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Save version' }).isDisabled());
  await settings.fill('{"seed": 7}');
  await check();
  await page.getByRole('button', { name: 'Save version' }).click();
  await page.getByRole('status').getByText('Saved as v2.').waitFor();
  const { key } = await service.key();
  const { versions } = (await service.call('GET', `${path}/versions`, { key })).body;
  const id = versions[0].promptVersionId;
  const { body } = await service.call('GET', `${path}/versions/${id}`, { key });
  assert.deepEqual(body.messages, [
    { role: 'system', content: 'Be brief.' },
    { placeholder: 'history' },
    { role: 'user', content: '{{a}}' },
  ]);
  assert.equal(body.seed, 7);

  await page.goto(
    `${service.url}/prompts/${promptId}/versions?before=${versions[1].promptVersionId}&after=${id}`,
  );
  await page.getByRole('region', { name: 'Messages template' }).waitFor();
  await page.getByRole('region', { name: 'Tools and more settings template' }).waitFor();
  await check();

  await page.goto(`${service.url}/prompts/${promptId}/playground`);
  await page.getByRole('textbox', { name: 'a', exact: true }).fill('Why?');
  await page
    .getByRole('textbox', { name: 'history' })
    .fill('[{"role": "assistant", "content": "Earlier answer"}]');
  const held = service.models.hold();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const call = await held.arrived;
  held.release({ text: 'Because.' });
  await page.getByText('Because.').waitFor();
  assert.deepEqual(call.messages, [
    { role: 'system', content: 'Be brief.' },
    { role: 'assistant', content: 'Earlier answer' },
    { role: 'user', content: 'Why?' },
  ]);
});
