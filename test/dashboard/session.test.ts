import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { addAgent, run } from '../../harness/agents.ts';
import { password } from '../../harness/sessions.ts';
import { toId } from '../../src/core/id.ts';
import { sql } from '../../src/db/sql.ts';
import { openDashboard, returnToWindow } from './harness.ts';

const { service, visit } = await openDashboard();

test('switches between two workspaces and exports the current one', async () => {
  const userId = await memberOfTwo();
  const agent = await addAgent(service);
  await run(service, agent, (await service.key()).key, { name: 'Ada' });
  const { page, check } = await visit('/history', { as: { userId } });
  await page.getByRole('button', { name: /^Workspace/ }).click();
  await page.getByRole('menuitem').last().click();
  await page.waitForURL(/:\d+\/$/);
  await page.goto('/history');
  await page.getByRole('heading', { name: 'No executions yet' }).waitFor();
  await page.getByRole('button', { name: /^Workspace/ }).click();
  await page.getByRole('menuitem').first().click();
  await page.waitForURL(/:\d+\/$/);
  await page.goto('/history');
  await page.getByText('1 execution', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Export' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'JSON Lines' }).click(),
  ]);
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  assert.match(Buffer.concat(chunks).toString(), /Ada/);
  // A native browser download, not data the page has read, so that its size is unlimited.
  assert.match(download.url(), /^http.*[?&]workspace=wsp_/);
  await check();
});

test('shows why an export was rejected', async () => {
  const { page, check } = await visit('/history', {
    as: { userId: await memberOfTwo() },
    intercepts: true,
  });
  let requested = 0;
  await page.route('**/executions/export?*', (route) => {
    requested++;
    return route.fulfill({ status: 503, json: problem });
  });
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem', { name: 'CSV' }).click();
  await page.getByRole('alert').getByText('Too many exports.').waitFor();
  assert.equal(requested, 1);
  await check();
});

test('falls back if the chosen workspace is no longer accessible', async () => {
  const { workspaceId } = await service.workspace();
  const { page } = await visit('/agents', { as: 'editor' });
  await page.getByRole('heading', { name: 'Agents', exact: true }).waitFor();
  const chosen = toId('workspace', workspaceId);
  await page.evaluate(`localStorage.setItem('cueline-workspace', '${chosen}')`);
  await page.goto('/prompts');
  await page.getByRole('heading', { name: 'Prompts', exact: true }).waitFor();
  assert.equal(await page.evaluate("localStorage.getItem('cueline-workspace')"), null);
});

test('leaving a workspace opens another one, or the page for users without any', async () => {
  const { email, userId } = await service.signIn('viewer');
  const other = await service.workspace();
  await sql`insert into members (workspace_id, user_id, role)
    values (${other.workspaceId}, ${userId}, 'editor')`.execute(service.db);
  const { page, check } = await visit('/settings/members', { as: { userId } });
  const leave = async () => {
    await page.goto('/settings/members');
    await page.getByRole('button', { name: 'Leave this workspace' }).click();
    const dialog = page.getByRole('dialog', { name: 'Leave this workspace?' });
    await dialog.getByText('all keys that you created are revoked').waitFor();
    await check();
    await dialog.getByRole('button', { name: 'Leave', exact: true }).click();
  };
  await page.getByRole('button', { name: 'Leave this workspace' }).waitFor();
  assert.equal(await page.getByRole('button', { name: /^Remove/ }).count(), 0);
  await leave();
  await page.waitForURL(/:\d+\/$/);
  await leave();
  await page.getByRole('heading', { name: 'No workspace' }).waitFor();
  await page.getByText(`${email} is not a member of any workspace.`).waitFor();
  await check();
  // The same page reloads, so its heading alone would not show that.
  await Promise.all([
    page.waitForEvent('load'),
    page.getByRole('link', { name: 'Check again' }).click(),
  ]);
  await page.getByRole('heading', { name: 'No workspace' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL('**/sign-in');
  await page.goto('/no-workspace');
  await page.waitForURL('**/sign-in');
});

test('an expired session keeps the page and its input', async () => {
  const userId = await service.member('editor');
  const { page, check } = await visit('/prompts', { as: { userId } });
  await page.getByRole('button', { name: 'New prompt' }).first().click();
  const form = page.getByRole('dialog', { name: 'New prompt' });
  await form.getByLabel('Name').fill('Long thought of');
  await page.context().clearCookies();
  await form.getByRole('button', { name: 'Create and edit' }).click();
  const again = page.getByRole('dialog', { name: 'Your session has ended' });
  await again.getByLabel('Password', { exact: true }).fill('not the password');
  await again.getByRole('button', { name: 'Sign in' }).click();
  await again.getByRole('alert').getByText('req_').waitFor();
  await check();
  await again.getByLabel('Password', { exact: true }).fill(password);
  await again.getByRole('button', { name: 'Sign in' }).click();
  await again.waitFor({ state: 'hidden' });
  assert.equal(await form.getByLabel('Name').inputValue(), 'Long thought of');
  await form.getByRole('alert').waitFor({ state: 'detached' });
  await form.getByRole('button', { name: 'Create and edit' }).click();
  await page.waitForURL(/\/prompts\/prm_/);
});

test('the next user of a window sees no drafts of the previous user', async () => {
  const agent = await addAgent(service);
  const { page, check } = await visit('/agents/new', { as: 'editor' });
  const [name, description] = [
    page.getByRole('textbox', { name: 'Name', exact: true }),
    page.getByRole('textbox', { name: 'Description' }),
  ];
  const settings = `/agents/${agent.agentId}/settings`;
  await name.fill('Mine alone');
  await page.goto(settings);
  await description.fill('Half a thought');
  await page.getByRole('button', { name: 'Discard' }).waitFor();
  const me = await (await page.request.get('/api/v1/me')).json();
  const signInAs = async (email: string) => {
    await page.context().clearCookies();
    await page.getByRole('link', { name: 'Prompts', exact: true }).click();
    const ended = page.getByRole('dialog', { name: 'Your session has ended' });
    await ended.getByText('except for drafts').waitFor();
    await ended.getByRole('button', { name: 'Go to sign-in page' }).click();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Prompts', level: 1 }).waitFor();
  };
  await signInAs(me.user.email);
  await page.goto(settings);
  assert.equal(await description.inputValue(), 'Half a thought');
  await signInAs((await service.signIn('owner')).email);
  await page.goto(settings);
  await description.waitFor();
  assert.equal(await description.inputValue(), '');
  await page.goto('/agents/new');
  assert.equal(await name.inputValue(), '');
  await check();
});

test('a window follows a sign-in as another user in another window', async () => {
  const { page, check } = await visit('/prompts', { as: 'owner' });
  await page.getByRole('button', { name: 'New prompt' }).first().waitFor();
  await page.clock.install();
  const { email } = await service.signIn('viewer');
  const other = await page.context().newPage();
  await other.goto('/sign-in');
  await other.getByLabel('Email').fill(email);
  await other.getByLabel('Password', { exact: true }).fill(password);
  await other.getByRole('button', { name: 'Sign in', exact: true }).click();
  await other.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
  await Promise.all([page.waitForEvent('load'), returnToWindow(page)]);
  await page.getByRole('heading', { name: 'Prompts', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'viewer' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'New prompt' }).count(), 0);
  await check();
});

test('hides actions after a 403 because the role has changed', async () => {
  const userId = await service.member('editor');
  const { page } = await visit('/prompts', { as: { userId } });
  await page.getByRole('button', { name: 'New prompt' }).first().click();
  await sql`update members set role = 'viewer' where user_id = ${userId}`.execute(service.db);
  const form = page.getByRole('dialog', { name: 'New prompt' });
  await form.getByLabel('Name').fill('Too late');
  await form.getByRole('button', { name: 'Create and edit' }).click();
  await form.getByRole('alert').getByText('req_').waitFor();
  await page
    .getByRole('button', { name: 'New prompt', includeHidden: true })
    .first()
    .waitFor({ state: 'detached' });
});

test('shows a failed sign-out, and sign-out clears drafts', async () => {
  const { page, check } = await visit('/agents', { as: 'owner', intercepts: true });
  await page.evaluate(`sessionStorage.setItem('cueline-draft-prm_1', '"secret"')`);
  await page.route('**/api/auth/sign-out', (route) =>
    route.fulfill({ status: 500, json: problem }),
  );
  await signOut(page);
  const dialog = page.getByRole('dialog', { name: 'You are still signed in' });
  await dialog.getByText('Too many exports.').waitFor();
  await check();
  await page.unroute('**/api/auth/sign-out');
  await dialog.getByRole('button', { name: 'Try again' }).click();
  await page.waitForURL('**/sign-in');
  assert.equal(await page.evaluate("sessionStorage.getItem('cueline-draft-prm_1')"), null);
});

const problem = {
  error: 'Refused',
  message: 'Too many exports.',
  code: 'INTERNAL',
  requestId: 'req_of_the_test',
};

async function memberOfTwo(): Promise<string> {
  const userId = await service.member('owner');
  const { workspaceId } = await service.workspace();
  await sql`insert into members (workspace_id, user_id, role, created_at)
    values (${workspaceId}, ${userId}, 'owner', clock_timestamp() + interval '1 second')`.execute(
    service.db,
  );
  return userId;
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'owner' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
}
