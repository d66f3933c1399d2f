import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { addAgent } from '../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../harness/created-workflows.ts';
import { addEndpoint } from '../../harness/endpoints.ts';
import { startReceiver, toReceivers } from '../../harness/receiver.ts';
import { openDashboard } from './harness.ts';

/** What dialogs look like, light and dark. What they contain and send is tested in a DOM. */

const { service, visit } = await openDashboard({ config: toReceivers });
const { key } = await service.key();
const agent = await addAgent(service);
const workflow = await makeWorkflow(service, greeting(agent.agentId));
const receiver = await startReceiver();
test.after(receiver.close);
const endpoint = await addEndpoint(service, key, { url: receiver.url });
await endpoint.call('POST', '/test');
await receiver.received(1);
const body = { kind: 'openai', apiKey: 'sk-test' };
await service.call('PUT', '/api/v1/providers/openai', { user: service.ownerId, body });
await service.signIn('viewer');

/** Paths, and the buttons that open a dialog of each. */
const dialogs: readonly (readonly [string, readonly (string | RegExp)[]])[] = [
  ['/keys', ['Create key']],
  ['/keys', [/^Actions/, 'Rotate']],
  ['/keys', [/^Actions/, 'Revoke']],
  ['/settings/members', [/^Remove/]],
  ['/settings/providers', ['Add provider']],
  ['/settings/providers', ['Delete openai']],
  ['/settings/providers', ['Set price']],
  ['/settings/alerts', ['Add alert']],
  ['/settings/budgets', ['Add budget']],
  [`/settings/endpoints/${endpoint.endpointId}`, [/^Details/]],
  [`/settings/endpoints/${endpoint.endpointId}`, ['Edit']],
  [`/workflows/${workflow.workflowId}/triggers`, ['New schedule']],
  [`/workflows/${workflow.workflowId}/triggers`, ['New webhook']],
];

for (const [path, buttons] of dialogs)
  test(`the dialog of ${buttons.join(', ')} on ${path.replace(/\w+_[0-9a-z]{26}/, '…')}`, async () => {
    const { page, check } = await visit(path, { as: 'owner' });
    for (const name of buttons) await press(page, name);
    await page.getByRole('dialog').waitFor();
    await check({ inDarkMode: true });
  });

async function press(page: Page, name: string | RegExp): Promise<void> {
  const button = page.getByRole('button', { name }).or(page.getByRole('menuitem', { name }));
  await button.first().click();
}
