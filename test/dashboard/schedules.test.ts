import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import { addAgent } from '../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../harness/created-workflows.ts';
import { fromId } from '../../src/core/id.ts';
import { sql } from '../../src/db/sql.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();

test('creates, edits and deletes a schedule, and shows its next five times in both time zones', async () => {
  const { agentId } = await addAgent(service);
  const { workflowId } = await makeWorkflow(service, greeting(agentId));
  const path = `/workflows/${workflowId}/triggers`;
  const { page, check } = await visit(path, { as: 'editor', timezoneId: 'America/New_York' });
  await page.getByRole('button', { name: 'New schedule' }).click();
  const form = page.getByRole('dialog', { name: 'New schedule' });
  assert.equal(await form.getByLabel('Time zone').inputValue(), 'America/New_York');
  await form.getByLabel('Time zone').fill('Asia/Tokio');
  await form.getByText('No such time zone.').waitFor();
  assert.ok(await form.getByRole('button', { name: 'Create' }).isDisabled());
  await check();
  await form.getByLabel('Time zone').fill('Asia/Tokyo');
  await page.keyboard.press('Escape');
  const shown = await rowsOf(form);
  assert.equal(shown.length, 5);
  await form.getByRole('button', { name: 'Create' }).click();
  await form.getByText('Required input is missing: name.').waitFor();
  const input = form.getByRole('textbox', { name: 'Input' });
  await form.getByText('Required: name.').waitFor();
  await input.fill('{"name": 12345678901234567890}');
  await form.getByRole('button', { name: 'Create' }).click();
  await form.getByText('The number 12345678901234567890 would lose precision').waitFor();
  await input.fill('{"name": "Ada"}');
  await form.getByRole('button', { name: 'Create' }).click();
  await form.waitFor({ state: 'hidden' });
  const times = page.getByRole('table', { name: 'Next times' });
  await page.getByText('No workflow run yet.').waitFor();
  await times.getByRole('columnheader', { name: 'Your time, America/New_York' }).waitFor();
  const saved = await rowsOf(page.locator('main'));
  // The times shown before saving are those that the server keeps.
  assert.deepEqual(saved, shown);
  const [tokyo = '', newYork = ''] = saved[0] ?? [];
  assert.match(tokyo, /, 2:00/);
  assert.match(newYork, /, 12?:00/);
  await check();
  await sql`
    update workflow_schedules set last_error = json_build_object(
      'at', '2026-11-20T17:00:00.000Z', 'code', 'MISSING_VARIABLES', 'message', 'Required input is missing: tone.')
    where workflow_id = ${fromId('workflow', workflowId)}`.execute(service.db);
  await page.reload();
  await page.getByText(/^Failed to start .*: Required input is missing: tone\.$/).waitFor();
  await check();
  await page.getByRole('button', { name: 'Disable Daily at' }).click();
  await page.getByText('Disabled.').waitFor();
  await page.getByRole('button', { name: 'Edit Daily at' }).click();
  const edit = page.getByRole('dialog', { name: 'Edit schedule' });
  await edit.getByLabel('Repeat').selectOption('Cron expression');
  const expression = edit.getByRole('textbox', { name: 'Cron expression' });
  assert.equal(await expression.inputValue(), '0 2 * * *');
  await expression.fill('now and then');
  await edit.getByText('Not an expression of five fields.').waitFor();
  await check();
  assert.ok(await edit.getByRole('button', { name: 'Save' }).isDisabled());
  await expression.fill('0 0 31 2 *');
  await edit.getByText('Never matches a time in the future.').waitFor();
  await expression.fill('30 4 1-7 * *');
  await edit.getByRole('button', { name: 'Save' }).click();
  await edit.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Delete 30 4 1-7 * *' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('A schedule starts exactly one workflow run').waitFor();
});

test('a small window shows the button of the form, whose input names what is required', async () => {
  const { agentId } = await addAgent(service);
  const { workflowId, path } = await makeWorkflow(service, greeting(agentId));
  const { page, check } = await visit(`/workflows/${workflowId}/triggers`, {
    as: 'editor',
    viewport: { width: 1280, height: 560 },
  });
  await page.getByRole('button', { name: 'New schedule' }).click();
  const form = page.getByRole('dialog', { name: 'New schedule' });
  const create = form.getByRole('button', { name: 'Create' });
  const input = form.getByRole('textbox', { name: 'Input' });
  assert.deepEqual(JSON.parse(await input.inputValue()), { name: null });
  // Not a scroll away: Playwright would scroll before a click.
  const inView = async (name: string) => {
    const box = await form.getByText(name).boundingBox();
    return box !== null && box.y + box.height <= 560;
  };
  assert.ok(await inView('Create schedule'));
  await create.click();
  const problem = 'Required input is missing: name.';
  await form.getByText(problem).waitFor();
  assert.ok(await inView(problem));
  await check({ inDarkMode: true });
  await input.fill('{"name": "Ada"}');
  await form.getByLabel('Tags').fill('nightly');
  await create.click();
  await form.waitFor({ state: 'hidden' });
  // Now, too, with its input and labels.
  await page.getByRole('button', { name: 'Run now Daily at' }).dblclick();
  await page.getByRole('heading', { name: 'Workflow run' }).waitFor();
  const { body } = await service.call('GET', `${path}/runs`, { key: (await service.key()).key });
  assert.equal(body.pagination.total, 1);
  const [run] = body.runs;
  assert.deepEqual([run.trigger, run.tags], ['dashboard', ['nightly']]);
  assert.match(await page.title(), /^Workflow runs · Workflow \d+ · Cueline$/);
  await page.getByRole('link', { name: 'Versions', exact: true }).click();
  await page.getByRole('table').first().waitFor();
  assert.match(await page.title(), /^Versions · Workflow \d+ · Cueline$/);
});

test('each choice shows its next times before saving', async () => {
  const { agentId } = await addAgent(service);
  const { workflowId } = await makeWorkflow(service, greeting(agentId));
  const { page, check } = await visit(`/workflows/${workflowId}/triggers`, {
    as: 'editor',
    timezoneId: 'Europe/Berlin',
  });
  await page.getByRole('button', { name: 'New schedule' }).click();
  const form = page.getByRole('dialog', { name: 'New schedule' });
  const repeat = form.getByLabel('Repeat');
  const firstTimes = async () => (await rowsOf(form)).map(([time = '']) => time);

  await repeat.selectOption('Every few minutes');
  await form.getByLabel('Every', { exact: true }).selectOption('30 minutes');
  for (const time of await firstTimes()) assert.match(time, /:(00|30)\b/);
  await check({ inDarkMode: true });
  await repeat.selectOption('Hourly');
  await form.getByLabel('Minute of the hour').fill('7');
  for (const time of await firstTimes()) assert.match(time, /:07\b/);
  await form.getByLabel('Minute of the hour').fill('60');
  await form.getByText('At most 59.').waitFor();
  assert.ok(await form.getByRole('button', { name: 'Create' }).isDisabled());
  await form.getByLabel('Minute of the hour').fill('7');
  await check();
  await repeat.selectOption('Monthly');
  await form.getByLabel('Day', { exact: true }).selectOption('Last day');
  await form.getByLabel('Time', { exact: true }).fill('18:45');
  for (const time of await firstTimes()) assert.match(time, /\b(28|29|30|31), .*6:45/);
  await check();
  await repeat.selectOption('On weekdays');
  for (const time of await firstTimes()) {
    assert.match(time, /6:45/);
    const weekday = new Date(time.replaceAll('\u202f', ' ')).getDay();
    assert.ok(weekday >= 1 && weekday <= 5, time);
  }
  await check();
  await repeat.selectOption('Weekly');
  await form.getByRole('checkbox', { name: 'Mon' }).uncheck();
  await form.getByText('Select at least one day.').waitFor();
  await form.getByText('The next times appear once the schedule is valid.').waitFor();
  await check({ inDarkMode: true });
  await form.getByRole('checkbox', { name: 'Wed' }).check();
  await form.getByRole('checkbox', { name: 'Sun' }).check();
  assert.equal((await firstTimes()).length, 5);
  await form.getByRole('textbox', { name: 'Input' }).fill('{"name": "Ada"}');
  await form.getByRole('button', { name: 'Create' }).click();
  await form.waitFor({ state: 'hidden' });
  await page.getByText(/^Weekly on Wednesday and Sunday at 6:45/).waitFor();
  const { body } = await service.call('GET', `/api/v1/workflows/${workflowId}/schedules`, {
    key: (await service.key()).key,
  });
  const [{ cron, timeZone }] = body.schedules;
  assert.deepEqual({ cron, timeZone }, { cron: '45 18 * * 3,0', timeZone: 'Europe/Berlin' });
  await check();
});

/** The texts of the shown next times, by row and time zone. */
async function rowsOf(parent: Locator): Promise<string[][]> {
  const rows = parent.getByRole('table', { name: 'Next times' }).getByRole('row');
  await rows.nth(1).waitFor();
  const all = await rows.all();
  const texts = await Promise.all(all.slice(1).map((row) => row.getByRole('cell').allInnerTexts()));
  // The last column is relative to now.
  return texts.map((cells) => cells.slice(0, -1));
}
