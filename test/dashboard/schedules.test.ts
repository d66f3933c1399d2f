import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { addAgent } from '../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../harness/created-workflows.ts';
import { fromId } from '../../src/core/id.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();

test('validates, creates, edits and deletes a schedule, and shows its next five times in both time zones', async () => {
  const { agentId } = await addAgent(service);
  const { workflowId } = await makeWorkflow(service, greeting(agentId));
  const path = `/workflows/${workflowId}/triggers`;
  const { page, check } = await visit(path, { as: 'editor', timezoneId: 'America/New_York' });
  await page.getByRole('button', { name: 'New schedule' }).click();
  const form = page.getByRole('dialog', { name: 'New schedule' });
  const when = form.getByRole('textbox', { name: 'Cron expression' });
  assert.equal(await form.getByLabel('Time zone').inputValue(), 'America/New_York');
  await form.getByLabel('Time zone').fill('Asia/Tokyo');
  await when.fill('now and then');
  await form.getByRole('button', { name: 'Create' }).click();
  await form.getByRole('alert').waitFor();
  await check();
  await when.fill('0 2 * * *');
  await form.getByRole('button', { name: 'Create' }).click();
  await form.getByText('Required input is missing: name.').waitFor();
  await form.getByRole('textbox', { name: 'Input' }).fill('{"name": 12345678901234567890}');
  await form.getByRole('button', { name: 'Create' }).click();
  await form.getByText('The number 12345678901234567890 would lose precision').waitFor();
  await form.getByRole('textbox', { name: 'Input' }).fill('{"name": "Ada"}');
  await form.getByRole('button', { name: 'Create' }).click();
  await form.waitFor({ state: 'hidden' });
  const times = page.getByRole('table', { name: 'Next times' });
  await times.getByRole('columnheader', { name: 'Your time, America/New_York' }).waitFor();
  assert.equal(await times.getByRole('row').count(), 6);
  const [tokyo = '', newYork = ''] = await times
    .getByRole('row')
    .nth(1)
    .getByRole('cell')
    .allInnerTexts();
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
  await page.getByRole('button', { name: 'Disable 0 2' }).click();
  await page.getByText('Disabled.').waitFor();
  await page.getByRole('button', { name: 'Edit 0 2' }).click();
  await page
    .getByRole('dialog')
    .getByRole('textbox', { name: 'Cron expression' })
    .fill('30 4 * * MON');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Delete 30 4' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('A schedule starts exactly one workflow run').waitFor();
});
