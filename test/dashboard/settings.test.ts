import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent, run } from '../../harness/agents.ts';
import { runRetentionRound } from '../../harness/retention-round.ts';
import { password } from '../../harness/sessions.ts';
import type { ModelFailure } from '../../src/core/model/model-port.ts';
import { sql } from '../../src/db/sql.ts';
import { openDashboard, returnToWindow } from './harness.ts';

const connection: { failure: ModelFailure | null } = { failure: null };
const { service, visit } = await openDashboard({
  async testConnection(_, __, ___, model) {
    if (connection.failure) throw connection.failure;
    if (model === null) return undefined;
    return {
      request: { method: 'POST', url: 'https://h.example/v1/x', headers: {}, body: { model } },
      answer: { status: 200, headers: {}, body: { text: 'OK' } },
      ...{ latencyMs: 12, failure: null },
    };
  },
});

test('changes the plan and shows its usage', async () => {
  const { page, check, announced } = await visit('/settings', { as: 'owner' });
  await page.waitForURL('**/settings/workspace');
  await page.getByLabel('Plan name').fill('Team');
  await page.getByLabel('AI Actions per month').fill('5000');
  await page.getByRole('button', { name: 'Save plan' }).click();
  await page.getByRole('img', { name: '0 of 5,000 used' }).waitFor();
  await page.getByText('Plan “Team”').waitFor();
  await check();
  await announced('Saved');
});

test('the last owner cannot be removed', async () => {
  const { email } = await service.signIn('viewer');
  await sql`update members set role = 'viewer'
    where workspace_id = ${service.workspaceId} and user_id <> ${service.ownerId}`.execute(
    service.db,
  );
  const { page } = await visit('/settings/members', {
    as: { userId: service.ownerId },
    intercepts: true,
  });
  await page.getByRole('button', { name: `Remove ${email}` }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Leave this workspace' }).count(), 0);
  await page.route('**/api/v1/members/*', (route) =>
    route.fulfill({
      status: 409,
      json: {
        error: 'Conflict',
        message: 'No owner would be left.',
        code: 'CONFLICT',
        requestId: 'req_1',
      },
    }),
  );
  await page
    .getByRole('combobox', { name: /^Role of/ })
    .first()
    .selectOption('viewer');
  const dialog = page.getByRole('dialog', { name: /^Change/ });
  await dialog.getByRole('button', { name: /^Change to/ }).click();
  await dialog.getByRole('alert').getByText('No owner would be left.').waitFor();
});

test('an owner who gives up the role loses the owner actions', async () => {
  const { page, check } = await visit('/settings/members', { as: 'owner' });
  const { user } = await (await page.request.get('/api/v1/me')).json();
  await page.getByRole('combobox', { name: `Role of ${user.email}` }).selectOption('viewer');
  const dialog = page.getByRole('dialog', { name: 'Change your own role?' });
  await dialog.getByText('Only another owner can undo this.').waitFor();
  await check();
  await dialog.getByRole('button', { name: 'Change to viewer' }).click();
  await page.getByRole('link', { name: 'Audit log' }).waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Create link' }).waitFor({ state: 'hidden' });
});

test('changes retention after confirmation', async () => {
  const { page, check, announced } = await visit('/settings/retention', { as: 'owner' });
  await page.getByLabel('Keep records (days)').fill('91');
  await page.getByRole('button', { name: 'Save' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('This cannot be undone').waitFor();
  await dialog.getByText('Records: 91 days (previously').waitFor();
  await check();
  await dialog.getByRole('button', { name: 'Change' }).click();
  await announced('Saved');
  const { body } = await service.call('GET', '/api/v1/retention', {
    key: (await service.key()).key,
  });
  assert.deepEqual(body, { recordsDays: 91, bodiesDays: null });
});

test('does not revert a concurrent change of another owner', async () => {
  const { page, announced } = await visit('/settings/retention', { as: 'owner' });
  await page.getByLabel('Keep bodies (days)').fill('7');
  const { key } = await service.key();
  await service.call('PUT', '/api/v1/retention', {
    ...{ key, body: { recordsDays: 365, bodiesDays: null } },
  });
  await page.getByRole('button', { name: 'Save' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Records: 365 days (unchanged).').waitFor();
  await dialog.getByRole('button', { name: 'Change' }).click();
  await announced('Saved');
  const { body } = await service.call('GET', '/api/v1/retention', { key });
  assert.deepEqual(body, { recordsDays: 365, bodiesDays: 7 });
});

test('erases an end user, which the audit log shows', async () => {
  const agent = await addAgent(service);
  const { key } = await service.key();
  const { executionId } = await run(service, agent, key, { name: 'Ada' });
  const { page, check } = await visit('/settings/retention', { as: 'owner' });
  await page.getByLabel('Identified by').selectOption('Variable');
  await page.getByLabel('Name').fill('name');
  await page.getByLabel('Value').fill('Ada');
  await page.getByRole('button', { name: 'Erase…' }).click();
  await page.getByLabel('Type “Ada” to confirm').fill('Ada');
  await page.getByRole('dialog').getByRole('button', { name: 'Erase' }).click();
  await page.getByRole('cell', { name: 'processing' }).waitFor();
  await runRetentionRound(service.db, service.database);
  await page.getByRole('cell', { name: 'completed' }).waitFor();
  await check();
  const deleted = await service.call('GET', `${agent.path}/executions/${executionId}`, { key });
  assert.equal(deleted.status, 404);
  await page.getByRole('link', { name: 'Audit log' }).click();
  await page.getByRole('cell', { name: 'requested the erasure' }).waitFor();
  await check();
  await page.getByRole('combobox', { name: 'Action' }).selectOption('Plan changed');
  await page.waitForURL(/action=plan\.change/);
});

test("shows the server's message if the audit log fails", async () => {
  const { page, check } = await visit('/settings/account', { as: 'owner', intercepts: true });
  await page.route('**/api/v1/audit?*', (route) =>
    route.fulfill({
      status: 500,
      json: { error: 'Internal error', message: 'It broke.', code: 'INTERNAL', requestId: 'req_2' },
    }),
  );
  await page.getByRole('link', { name: 'Audit log' }).click();
  await page.getByRole('alert').getByText('It broke.').waitFor();
  await check();
});

test('warns until the generated password is changed', async () => {
  const userId = await service.member('viewer');
  const { page, check, announced } = await visit('/settings/account', { as: { userId } });
  await page.getByLabel('Current password').waitFor();
  await sql`update accounts set generated_password = password where user_id = ${userId}`.execute(
    service.db,
  );
  await page.goto('/agents');
  const notice = page.getByText("generated password from the server's output");
  await notice.waitFor();
  await check();
  const other = await page.context().newPage();
  await other.clock.install();
  await other.goto('/agents');
  const noticeThere = other.getByText("generated password from the server's output");
  await noticeThere.waitFor();
  await page.getByRole('link', { name: 'Change password' }).click();
  await page.getByLabel('Current password').fill(password);
  await page.getByLabel('New password').fill('a password of my own');
  await page.getByRole('button', { name: 'Change password' }).click();
  await announced('Password changed');
  await page.getByRole('link', { name: 'Agents', exact: true }).click();
  await page.getByRole('heading', { name: 'Agents', exact: true }).waitFor();
  await notice.waitFor({ state: 'hidden' });
  await returnToWindow(other);
  await noticeThere.waitFor({ state: 'hidden' });
});
