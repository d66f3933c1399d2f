import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { addAgent } from '../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../harness/made-workflows.ts';
import { makePrompt } from '../../harness/prompts.ts';
import { openDashboard } from './harness.ts';

/** One order, one thing: whoever presses twice, or while the page that follows is still fetched, gets no second one. */

const { service, visit } = await openDashboard();

test('a prompt is made once', async () => {
  const { page } = await visit('/prompts', { as: 'editor', intercepts: true });
  await page.getByRole('button', { name: 'New prompt' }).first().click();
  await page.getByRole('dialog').getByLabel('Name').fill('Once');
  await pressAgain(page, 'Create and write it', '**/api/v1/prompts/prm_*');
  await page.waitForURL(/\/prompts\/prm_/);
});

test('an agent is made once', async () => {
  const { promptId } = await makePrompt(service, { user: 'Hello' });
  const { page } = await visit(`/agents/new?promptId=${promptId}`, {
    as: 'editor',
    intercepts: true,
  });
  await page.waitForURL(/promptVersionId/);
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Once');
  await pressAgain(page, 'Create the agent', '**/api/v1/agents/agt_*');
  await page.waitForURL(/\/agents\/agt_/);
});

test('a run of a workflow is started once', async () => {
  const { agentId } = await addAgent(service);
  const { workflowId } = await makeWorkflow(service, greeting(agentId));
  const { page } = await visit(`/workflows/${workflowId}/run`, { as: 'editor', intercepts: true });
  await page.getByRole('textbox', { name: 'name' }).fill('Ada');
  await pressAgain(page, 'Run', '**/assets/run-page-*.js');
  await page.waitForURL(/\/runs\/wfr_/);
});

test('an invitation is made once, and the next one when it is asked for', async () => {
  const { page } = await visit('/settings/members', { as: 'owner' });
  const posts = postsOf(page);
  const button = page.getByRole('button', { name: 'Make the link' });
  for (const name of ['first', 'second']) {
    await page.getByLabel('E-mail').fill(`${name}@example.com`);
    await button.click({ trial: true });
    await button.evaluate(twice);
    await page.getByText(`Hand this link to ${name}@example.com`).waitFor();
  }
  assert.deepEqual(posts, ['/api/v1/invitations', '/api/v1/invitations']);
});

/** In one go, and once more after the answer, while `next`, without which the page that follows is not shown, is held. */
async function pressAgain(page: Page, name: string, next: string): Promise<void> {
  const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route(next, async (route) => {
    asked.resolve();
    await held.promise;
    await route.continue();
  });
  const posts = postsOf(page);
  const button = page.getByRole('button', { name, exact: true });
  // As long as what it needs is being read it cannot be pressed.
  await button.click({ trial: true });
  await button.evaluate(twice);
  await asked.promise;
  // A page that takes its time gives way to the sign of that: then there is nothing to press.
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
