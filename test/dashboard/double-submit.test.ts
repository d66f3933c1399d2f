import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { addAgent } from '../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../harness/created-workflows.ts';
import { makePrompt } from '../../harness/prompts.ts';
import { openDashboard } from './harness.ts';

/** A double click, or a click while the next page loads, does not submit a form twice. */

const { service, visit } = await openDashboard();

test('creates a prompt once', async () => {
  const { page } = await visit('/prompts', { as: 'editor', intercepts: true });
  await page.getByRole('button', { name: 'New prompt' }).first().click();
  await page.getByRole('dialog').getByLabel('Name').fill('Once');
  await pressAgain(page, 'Create and edit', '**/api/v1/prompts/prm_*');
  await page.waitForURL(/\/prompts\/prm_/);
});

test('creates an agent once', async () => {
  const { promptId } = await makePrompt(service, { user: 'Hello' });
  const { page } = await visit(`/agents/new?promptId=${promptId}`, {
    as: 'editor',
    intercepts: true,
  });
  await page.waitForURL(/promptVersionId/);
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Once');
  await pressAgain(page, 'Create agent', '**/api/v1/agents/agt_*');
  await page.waitForURL(/\/agents\/agt_/);
});

test('starts a workflow run once', async () => {
  const { agentId } = await addAgent(service);
  const { workflowId } = await makeWorkflow(service, greeting(agentId));
  const { page } = await visit(`/workflows/${workflowId}/run`, { as: 'editor', intercepts: true });
  await page.getByRole('textbox', { name: 'name' }).fill('Ada');
  await pressAgain(page, 'Run', '**/assets/run-page-*.js');
  await page.waitForURL(/\/runs\/wfr_/);
});

test('creates an invitation once, then the next one', async () => {
  const { page } = await visit('/settings/members', { as: 'owner' });
  const posts = postsOf(page);
  const button = page.getByRole('button', { name: 'Create link' });
  for (const name of ['first', 'second']) {
    await page.getByLabel('Email').fill(`${name}@example.com`);
    await button.click({ trial: true });
    await button.evaluate(twice);
    await page.getByText(`Send this link to ${name}@example.com`).waitFor();
  }
  assert.deepEqual(posts, ['/api/v1/invitations', '/api/v1/invitations']);
});

/** Clicks twice at once, and again after the response, while `next`, a request that the next page needs, is held. */
async function pressAgain(page: Page, name: string, next: string): Promise<void> {
  const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route(next, async (route) => {
    asked.resolve();
    await held.promise;
    await route.continue();
  });
  const posts = postsOf(page);
  const button = page.getByRole('button', { name, exact: true });
  // The button is disabled until its data has loaded.
  await button.click({ trial: true });
  await button.evaluate(twice);
  await asked.promise;
  // The pending page may already have replaced the form.
  await page.evaluate('for (const form of document.forms) form.requestSubmit()');
  held.resolve();
  await button.waitFor({ state: 'detached' });
  assert.equal(posts.length, 1, posts.join());
}

function twice(element: { click(): void }): void {
  element.click();
  element.click();
}

function postsOf(page: Page): string[] {
  const posts: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') posts.push(new URL(request.url()).pathname);
  });
  return posts;
}
