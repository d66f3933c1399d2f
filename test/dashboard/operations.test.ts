import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { addAgent, run } from '../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../harness/created-workflows.ts';
import { insertStatistics, tally } from '../../harness/statistics.ts';
import { toId, uuid7 } from '../../src/core/id.ts';
import { noDetails } from '../../src/core/model/model-port.ts';
import { countClicks } from './count-clicks.ts';
import { openDashboard } from './harness.ts';

/** What an operator does in an emergency and from day to day, with its clicks. */

const { service, visit } = await openDashboard();
const { key } = await service.key();

async function named(agentName: string, options: Parameters<typeof addAgent>[1] = {}) {
  const agent = await addAgent(service, options);
  await service.call('PATCH', agent.path, { key, body: { agentName } });
  return agent;
}

const stageOf = async ({ path }: { readonly path: string }) =>
  (await service.call('GET', path, { key })).body.status;

/** What the page asks the server for. */
const served = /\/(api\/v1\/|readyz)/;

/** Starts an execution whose model call does not end. */
async function startHeld(agent: { readonly path: string }) {
  const held = service.models.hold();
  const call = { key, body: { variables: { name: 'x' } } };
  const { body } = await service.call('POST', `${agent.path}/execute`, call);
  return { held, statusUrl: String(body.statusUrl) };
}

const statusAt = async (url: string) => (await service.call('GET', url, { key })).body.status;

test('pauses an agent and cancels its running executions, from its row, in 3 clicks', async () => {
  const agent = await named('Row agent');
  const { held, statusUrl } = await startHeld(agent);
  const { page, check, announced } = await visit('/agents', { as: 'editor' });
  const clicks = await countClicks(page);
  await page.getByRole('button', { name: 'Actions for Row agent' }).click();
  await page.getByRole('menuitem', { name: 'Pause and cancel running executions' }).click();
  const dialog = page.getByRole('dialog', { name: 'Pause Row agent?' });
  assert.ok(await dialog.getByLabel('Also cancel running executions').isChecked());
  await check({ inDarkMode: true });
  await dialog.getByRole('button', { name: 'Pause' }).click();
  await announced('Paused');
  assert.ok((await clicks()) <= 3);
  assert.equal(await stageOf(agent), 'Paused');
  assert.equal(await statusAt(statusUrl), 'canceled');
  held.release();
});

test('pauses and resumes from the page, and running executions continue', async () => {
  const agent = await named('Page agent');
  const { held, statusUrl } = await startHeld(agent);
  const { page, check } = await visit(`/agents/${agent.agentId}/settings`, { as: 'editor' });
  const clicks = await countClicks(page);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  assert.ok((await clicks()) <= 3);
  assert.equal(await statusAt(statusUrl), 'processing');
  held.release();
  await page.getByRole('button', { name: 'Resume' }).click();
  await check();
  await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  assert.equal(await stageOf(agent), 'Deployed');
});

test('pauses from the command palette', async () => {
  const agent = await named('Palette agent');
  const { page, check, announced } = await visit('/history', { as: 'editor' });
  await openPalette(page, 'pause palette');
  const clicks = await countClicks(page);
  await page.getByRole('button', { name: /^Pause Palette agent/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Pause Palette agent?' });
  await dialog.waitFor();
  await check();
  await dialog.getByRole('button', { name: 'Pause' }).click();
  await announced('Paused');
  assert.ok((await clicks()) <= 3);
  assert.equal(await stageOf(agent), 'Paused');
});

test('the palette finds executions and agents by identifier, and settings', async () => {
  const agent = await named('Found agent');
  const { executionId } = await run(service, agent, key);
  const { page, check } = await visit('/agents', { as: 'owner' });
  await openPalette(page, executionId);
  await selected(page, /^Execution of Found agent, success/).waitFor();
  await check();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/history/${agent.agentId}/${executionId}`);
  await openPalette(page, agent.agentId);
  await selected(page, /^Agent Found agent/).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/agents/${agent.agentId}`);
  await openPalette(page, 'audit');
  await selected(page, 'Settings: Audit log').waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/settings/audit');
});

test('the palette finds a record by the request at its provider, and says how far it looked', async () => {
  const agent = await named('Asked agent');
  const request = 'req_011CSHoEeqs5C35K2UUqR7Fy';
  const details = { ...noDetails, providerRequestId: request };
  service.models.script({ text: 'done', details });
  const { executionId } = await run(service, agent, key);
  const { page, check } = await visit('/agents', { as: 'viewer', intercepts: true });
  await openPalette(page, request);
  await selected(page, /^Execution of Asked agent, success/).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/history/${agent.agentId}/${executionId}`);
  await openPalette(page, 'req_nobody_has_it');
  const dialog = page.getByRole('dialog');
  await dialog.getByText(/^No record has this request of a provider\./).waitFor();
  await page.route('**/api/v1/executions?providerRequestId=*', async (route) => {
    const body = await (await route.fetch()).json();
    await route.fulfill({ json: { ...body, searchedTo: '2026-11-20T12:00:00.000Z' } });
  });
  await page.getByPlaceholder(/^Search pages/).fill('req_nobody_has_this');
  await dialog.getByText(/^No record since .*2026.* has this request of a provider\./).waitFor();
  await check();
});

test('the palette finds a workflow run by one request, and a revoked key on its page', async () => {
  const agent = await named('Step agent');
  const { path } = await makeWorkflow(service, greeting(agent.agentId), { name: 'Asked workflow' });
  await makeWorkflow(service, greeting(agent.agentId));
  const input = { key, body: { input: { name: 'Ada' } } };
  const { body } = await service.call('POST', `${path}/execute`, input);
  const keyBody = { name: 'Revoked key', agentIds: null, permissions: ['read'] };
  const { body: revoked } = await service.call('POST', '/api/v1/keys', { key, body: keyBody });
  await service.call('POST', `/api/v1/keys/${revoked.apiKeyId}/revoke`, { key });
  const { page } = await visit('/agents', { as: 'editor' });
  const asked: string[] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (request.url().includes(body.workflowRunId) && searchParams.get('q') === null) {
      asked.push(pathname);
    }
  });
  await openPalette(page, body.workflowRunId);
  await selected(page, /^Run of Asked workflow/).waitFor();
  assert.deepEqual(asked, ['/api/v1/workflows']);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/runs/${body.workflowRunId}`);
  await openPalette(page, revoked.apiKeyId);
  await selected(page, /^Key Revoked key/).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/keys?revoked=true');
  await page.getByRole('table').getByText('Revoked key').waitFor();
});

test('an event matches nothing for those who see no endpoints', async () => {
  const { page } = await visit('/agents', { as: 'viewer' });
  await openPalette(page, toId('event', uuid7(Date.now())));
  const dialog = page.getByRole('dialog');
  await dialog.getByText('No matches').waitFor();
  assert.equal(await dialog.getByText(/Could not search/).count(), 0);
});

test('the palette does not move while results load', async () => {
  await named('Slow agent');
  const { page } = await visit('/agents', { as: 'owner', intercepts: true });
  const held = Promise.withResolvers<void>();
  await page.route('**/api/v1/prompts?*', async (route) => {
    await held.promise;
    await route.continue();
  });
  await openPalette(page, 's');
  const settings = page.getByRole('button', { name: 'Settings: Workspace' });
  await settings.waitFor();
  const before = [await settings.boundingBox(), await dialogBox(page)];
  held.resolve();
  await page.getByRole('button', { name: /^Slow agent/ }).waitFor();
  assert.deepEqual([await settings.boundingBox(), await dialogBox(page)], before);
});

test('the palette says that it searches, and what it could not search', async () => {
  await named('Lone agent');
  const { page, check } = await visit('/agents', { as: 'owner', intercepts: true });
  const held = Promise.withResolvers<void>();
  await page.route('**/api/v1/prompts?*', async (route) => {
    await held.promise;
    await route.fulfill({ status: 400, json: { message: 'No.', code: 'INVALID_REQUEST' } });
  });
  await openPalette(page, 'lone');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Searching…').waitFor();
  assert.equal(await dialog.getByText('No matches').count(), 0);
  held.resolve();
  await dialog.getByText('Could not search prompts').waitFor();
  await dialog.getByRole('button', { name: /^Lone agent/ }).waitFor();
  await check();
  await page.unroute('**/api/v1/prompts?*');
  await page.getByPlaceholder(/^Search pages/).fill('nothing has this name');
  await dialog.getByText('No matches').waitFor();
});

test('the palette offers viewers no pause', async () => {
  await named('Busy agent');
  const { page } = await visit('/agents', { as: 'viewer' });
  await openPalette(page, 'busy');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: /^Busy agent/ }).waitFor();
  await page.getByPlaceholder(/^Search pages/).fill('pause busy');
  await dialog.getByText('No matches').waitFor();
});

test('warns all members from 80 % of the quota, and names who can raise it', async () => {
  const { workspaceId, ownerId } = await service.workspace();
  const own = { workspaceId, userId: ownerId };
  const agent = await addAgent(service, { workspaceId, createdBy: ownerId });
  const caller = (await service.key(own)).key;
  const plan = { name: 'Small', actionsPerMonth: 5 };
  await service.call('PUT', '/api/v1/plan', { user: ownerId, body: plan });
  for (let done = 0; done < 3; done += 1) await run(service, agent, caller);
  const viewer = await service.member('viewer', workspaceId);
  const quiet = await visit('/agents', { as: { userId: viewer } });
  await quiet.page.getByRole('table').waitFor();
  const notice = (page: Page) => page.getByRole('region', { name: 'Quota' });
  assert.equal(await notice(quiet.page).count(), 0);
  for (let done = 0; done < 2; done += 1) await run(service, agent, caller);
  const { page, check } = await visit('/agents', { as: { userId: viewer } });
  await notice(page).getByText('5 of 5 AI Actions').waitFor();
  await notice(page).getByText('new calls fail with 429').waitFor();
  await notice(page).getByText('A workspace owner can raise it.').waitFor();
  await check({ inDarkMode: true });
  const owner = await visit('/agents', { as: { userId: ownerId } });
  const clicks = await countClicks(owner.page);
  await notice(owner.page).getByRole('link', { name: 'Raise the quota' }).click();
  await owner.page.waitForURL('**/settings/workspace');
  const call = { key: caller, body: { variables: { name: 'x' } } };
  assert.equal((await service.call('POST', `${agent.path}/execute`, call)).status, 429);
  await owner.page.getByRole('link', { name: 'Executions' }).click();
  await owner.page.getByText('quota exceeded').first().waitFor();
  assert.equal(await clicks(), 2);
});

test('sorts agents by name', async () => {
  await named('AAA first');
  const { page, check } = await visit('/agents', { as: 'viewer' });
  await page.getByLabel('Sort').selectOption('Name A–Z');
  await page.waitForURL('**/agents?sort=name');
  const first = page.getByRole('row').nth(1);
  await first.getByRole('link', { name: 'AAA first' }).waitFor();
  await check();
});

test('sorts agents by what they cost, and filters them by what they are', async () => {
  const agents = [await named('Cheap'), await named('Dear'), await named('Free')];
  const costs = ['0.5', '4', '0'];
  await insertStatistics(
    service.db,
    agents.map(({ id }, index) =>
      tally({ agentId: id, executedAtMs: Date.now(), costUsd: costs[index] ?? '0' }),
    ),
  );
  for (const { path } of agents) {
    const body = { project: 'Billing', tags: ['beta'] };
    await service.call('PATCH', path, { key, body });
  }
  const { page, check } = await visit('/agents', { as: 'viewer' });
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByRole('combobox', { name: 'Project' }).click();
  await page.getByRole('option', { name: 'Billing' }).click();
  await page.getByRole('combobox', { name: 'Tag', exact: true }).fill('beta');
  await page.keyboard.press('Enter');
  await page.getByText('Project: Billing').waitFor();
  await page.getByText('Tag: beta').waitFor();
  await page.getByLabel('Sort').selectOption('Highest cost');
  await page.waitForURL('**/agents?**sort=-costUSD**');
  const names = page.getByRole('row').getByRole('link');
  await names.nth(0).filter({ hasText: 'Dear' }).waitFor();
  assert.deepEqual(await names.allInnerTexts(), ['Dear', 'Cheap', 'Free']);
  await check({ inDarkMode: true });
});

test('filters by prompt and version are shown by their names', async () => {
  const agent = await named('Versioned');
  const { body } = await service.call('GET', agent.path, { key });
  const path = `/agents?promptId=${body.promptId}&promptVersionId=${body.promptVersionId}`;
  const { page, check } = await visit(path, { as: 'owner' });
  await page.getByText('Prompt: Prompt').waitFor();
  await page.getByText('Version: v1').waitFor();
  await check();
  await page.getByRole('button', { name: 'Remove filter Version v1' }).click();
  await page.waitForURL(`**/agents?promptId=${body.promptId}`);
});

test('renames a key, changes its limits, and shows its creator and agents', async () => {
  const agent = await named('Key agent');
  const { apiKeyId } = await service.key({ agentIds: [agent.agentId] });
  const viewport = { width: 1680, height: 900 };
  const { page, check, announced } = await visit('/keys', { as: 'owner', viewport });
  const row = page.getByRole('row').filter({ hasText: 'Key agent' });
  await page.getByRole('columnheader', { name: 'Created by' }).waitFor();
  await row.getByRole('button', { name: /^Actions/ }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Shop backend');
  await dialog.getByLabel('Calls per minute').fill('7');
  await check({ inDarkMode: true });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await announced('Saved');
  await page.getByRole('row').filter({ hasText: 'Shop backend' }).waitFor();
  const { body } = await service.call('GET', '/api/v1/keys?limit=100', { key });
  const changed = body.keys.find((one: { apiKeyId: string }) => one.apiKeyId === apiKeyId);
  assert.deepEqual([changed.name, changed.rateLimits.requestsPerMinute], ['Shop backend', 7]);
});

test('rotates a key in 3 clicks', async () => {
  const { key: old } = await service.key();
  const { page } = await visit('/keys', { as: 'owner' });
  const row = page.getByRole('row').filter({ hasText: old.slice(0, 10) });
  const clicks = await countClicks(page);
  await row.getByRole('button', { name: /^Actions/ }).click();
  await page.getByRole('menuitem', { name: 'Rotate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
  await page
    .getByRole('dialog')
    .getByText(/^cue_[0-9A-Za-z]{36}$/)
    .first()
    .waitFor();
  assert.ok((await clicks()) <= 3);
});

test('says that the server does not answer, and when it does again', async () => {
  const { page, announced } = await visit('/agents', { as: 'viewer', intercepts: true });
  await page.getByRole('table').waitFor();
  await page.route(served, (route) => route.abort());
  await page.getByRole('link', { name: 'Prompts' }).click();
  await announced('Offline: the server does not answer.');
  await page.unroute(served);
  await announced('Reconnected.');
  await page.getByRole('heading', { name: 'Prompts', level: 1 }).waitFor();
});

test('says that it reconnects while the server cannot serve, and recovers by itself', async () => {
  await named('Waiting agent');
  const { page, check, announced } = await visit('/prompts', { as: 'owner', intercepts: true });
  await page.getByRole('table').waitFor();
  const problem = {
    ...{ error: 'Service unavailable', code: 'UNAVAILABLE', requestId: 'req_of_the_test' },
    message: 'The service is unavailable. Try again.',
  };
  const headers = { 'retry-after': '1' };
  await page.route(served, (route) => route.fulfill({ status: 503, headers, json: problem }));
  await page.getByRole('link', { name: 'Agents', exact: true }).click();
  await announced('Reconnecting…');
  await page.getByRole('alert').getByText('The service is unavailable.').waitFor();
  await check({ inDarkMode: true });
  await page.unroute(served);
  await announced('Reconnected.');
  await page.getByRole('link', { name: 'Waiting agent' }).waitFor();
});

test('a busy server is no lost connection', async () => {
  const { page } = await visit('/prompts', { as: 'owner', intercepts: true });
  await page.getByRole('table').waitFor();
  const busy = { error: 'Service unavailable', code: 'UNAVAILABLE', message: 'Too busy.' };
  await page.route('**/api/v1/agents?*', (route) => route.fulfill({ status: 503, json: busy }));
  const probed = page.waitForResponse('**/readyz');
  await page.getByRole('link', { name: 'Agents', exact: true }).click();
  await probed;
  await page.getByRole('alert').getByText('Too busy.').waitFor();
  assert.equal(await page.getByText('Reconnecting…').count(), 0);
});

test('a resource that is not found may be out of reach', async () => {
  const hidden = await addAgent(service, { visibility: 'private' });
  const { page, check } = await visit(`/agents/${hidden.agentId}`, { as: 'viewer' });
  await page.getByText('You may not have access to it; ask').waitFor();
  await check();
});

/** The result that Enter opens. It is selected a moment after it is shown. */
function selected(page: Page, name: string | RegExp) {
  return page.getByRole('button', { name }).and(page.locator('[data-selected]'));
}

async function openPalette(page: Page, typed: string): Promise<void> {
  await page.locator('h1').first().waitFor();
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByPlaceholder(/^Search pages/).fill(typed);
}

const dialogBox = (page: Page) => page.getByRole('dialog').boundingBox();
