import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { addAgent } from '../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../harness/created-workflows.ts';
import { ModelFailure, noCost, noUsage } from '../../src/core/model/model-port.ts';
import { sql } from '../../src/db/sql.ts';
import { openDashboard } from './harness.ts';

const { service, visit } = await openDashboard();

test('the empty list explains workflows; creates and runs the first one', async () => {
  await addAgent(service);
  const { page, check } = await visit('/workflows', { as: 'editor', intercepts: true });
  await page.getByRole('heading', { name: 'No workflows yet' }).waitFor();
  await check();
  await page.getByRole('link', { name: 'New workflow' }).first().click();
  await page.getByText('Valid.').waitFor();
  await check();
  await page.getByRole('textbox', { name: 'Name' }).fill('Welcome');
  await page.getByRole('link', { name: 'Prompts' }).click();
  await page.getByRole('heading', { name: 'Prompts', level: 1 }).waitFor();
  await page.goBack();
  await page.getByText('Valid.').waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Name' }).inputValue(), 'Welcome');
  await page.getByRole('button', { name: 'Create workflow' }).click();
  await page.waitForURL(/\/workflows\/wfl_/);
  // Until it has loaded, the page before shows a step of the same name.
  await page.getByRole('heading', { name: 'Welcome', level: 1 }).waitFor();
  await page.getByRole('button', { name: /^first/ }).click();
  await page.getByRole('heading', { name: 'first' }).waitFor();
  await check();
  await page.getByRole('navigation').getByRole('link', { name: 'Run', exact: true }).click();
  await page.getByRole('textbox', { name: 'name' }).fill('Ada');
  await check();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.waitForURL(/\/runs\/wfr_/);
  await page.getByRole('status').getByText('success').waitFor();
  await page.getByRole('figure').filter({ hasText: 'Output' }).getByText('Hello Ada').waitFor();
  await check();
  await page.getByRole('link', { name: 'Record of first' }).click();
  await page.getByRole('link', { name: 'Step first of workflow run' }).click();
  await page.waitForURL(/\/runs\/wfr_.*step=first/);
  await sql`update workflow_runs set bodies = 'removed', input = null, output = null`.execute(
    service.db,
  );
  await page.reload();
  await page.getByText('The input is not stored').waitFor();
  await page.getByText('The output is no longer stored').waitFor();
  await page.getByRole('button', { name: 'Run again' }).click();
  const again = page.getByRole('dialog', { name: 'Run again' });
  await again.getByText('The previous input is not stored').waitFor();
  await check();
  await again.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('link', { name: 'Workflow runs', exact: true }).click();
  await page.getByRole('table').getByText('success').waitFor();
  await check();
  await page.route('**/runs?*', async (route) => {
    const body = await (await route.fetch()).json();
    const pagination = { ...body.pagination, total: 10_000, hasMore: true };
    await route.fulfill({ json: { ...body, pagination, totalIsExact: false } });
  });
  await page.reload();
  const pages = page.getByRole('navigation', { name: 'Pages' });
  await pages.getByText('1–1 of more than 10,000').waitFor();
  await pages.getByText('Page 1', { exact: true }).waitFor();
  // Without an exact total there is no last page.
  assert.ok(await pages.getByRole('button', { name: 'Next' }).isEnabled());
  assert.equal(await pages.getByRole('button', { name: 'Last' }).count(), 0);
  await page.unroute('**/runs?*');
  await page.getByRole('combobox', { name: 'Status' }).selectOption('failed');
  await page.getByRole('heading', { name: 'No matches' }).waitFor();
  const requested: string[] = [];
  page.on('request', (request) => requested.push(new URL(request.url()).pathname));
  await page.goto('/workflows?q=welc');
  await page.getByRole('img', { name: /success$/ }).waitFor();
  await check();
  // The list is one call, regardless of its length.
  assert.ok(requested.includes('/api/v1/workflows'));
  assert.ok(!requested.some((path) => path.startsWith('/api/v1/workflows/')));
});

test('follows a workflow run with items, and cancels it after confirmation', async () => {
  const agent = await addAgent(service, { model: 'fake/model' });
  const { workflowId } = await makeWorkflow(service, listing(agent.agentId));
  service.models.hold();
  const { page, check } = await visit(`/workflows/${workflowId}/run`, { as: 'editor' });
  await page.getByText('JSON', { exact: true }).click();
  await page.getByRole('textbox', { name: 'Input as JSON' }).fill('{"names": ["Ada", "Bo"]}');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const steps = page.getByRole('region', { name: 'Steps of the workflow run' });
  await steps.getByRole('button', { name: /^greet\s*processing/ }).waitFor();
  await steps.getByRole('button', { name: /^report\s*waiting.*waits for greet$/ }).waitFor();
  await steps.getByRole('button', { name: /^greet/ }).click();
  await page.getByRole('link', { name: 'Record of item 1' }).waitFor();
  await check();
  await page.getByRole('button', { name: 'Cancel workflow run' }).click();
  const dialog = page.getByRole('dialog', { name: 'Cancel this workflow run?' });
  await check();
  await dialog.getByRole('button', { name: 'Cancel workflow run' }).click();
  await page.getByRole('status').getByText('canceled').waitFor();
  await check();
  await page.getByRole('button', { name: 'Run again' }).click();
  const again = page.getByRole('dialog', { name: 'Run again' });
  assert.match(await again.getByRole('textbox', { name: 'Input' }).inputValue(), /"Bo"/);
  await again.getByRole('textbox', { name: 'Input' }).fill('{}');
  await again.getByRole('button', { name: 'Run' }).click();
  await again.getByRole('alert').getByText('req_').waitFor();
  await check();
});

test('marks a fixed fallback and links the failed execution', async () => {
  const agent = await addAgent(service, { model: 'fake/model' });
  const [first] = greeting(agent.agentId).steps;
  const steps = [{ ...first, variables: { name: 'Ada' }, fallback: { output: 'Hello anyway' } }];
  const { workflowId, path } = await makeWorkflow(service, { steps });
  const options = { retryable: false, usage: noUsage, cost: noCost };
  service.models.script(new ModelFailure('PROVIDER_ERROR', 'Broken as asked.', options));
  const { key } = await service.key();
  const { body } = await service.call('POST', `${path}/execute`, { key, body: { input: {} } });
  const { page, check } = await visit(`/workflows/${workflowId}/runs/${body.workflowRunId}`, {
    as: 'viewer',
  });
  const row = page.getByRole('row').filter({ hasText: 'greet' });
  await row.getByText('fixed fallback').waitFor();
  await row.getByText('Agent', { exact: true }).waitFor();
  await check();
  await row.getByRole('link', { name: 'Failed execution of greet, before its fallback' }).click();
  await page.getByText('Broken as asked.').waitFor();
});

test('shows problems at their lines; saves, compares and pins a version', async () => {
  const { agentId } = await addAgent(service);
  const { workflowId } = await makeWorkflow(service, greeting(agentId));
  const { page, check } = await visit(`/workflows/${workflowId}/definition`, { as: 'editor' });
  const editor = page.getByRole('textbox', { name: 'Definition' });
  await editor.click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.insertText('output: "{{steps.gret.output}}"\n');
  const problems = page.getByRole('list', { name: 'Problems' });
  await problems.getByText('There is no step "gret".').waitFor();
  assert.equal(
    await page.locator('.cm-problem-line').innerText(),
    'output: "{{steps.gret.output}}"',
  );
  await check();
  assert.ok(await page.getByRole('button', { name: 'Save version' }).isDisabled());
  await page.keyboard.insertText('  : [');
  await problems.getByRole('button').first().waitFor();
  await page.getByRole('button', { name: 'Discard draft' }).click();
  await page.getByText('(pinned), no changes.').waitFor();
  await page.getByText('JSON', { exact: true }).click();
  await editor.getByText('"steps"').waitFor();
  await page.getByText('YAML', { exact: true }).click();
  await editor.click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.insertText('output: 12345678901234567890');
  await page.getByText('The number 12345678901234567890 would lose precision').waitFor();
  for (let remaining = 20; remaining > 0; remaining--) await page.keyboard.press('Backspace');
  await page.keyboard.insertText('"{{steps.greet.output}}!"\n');
  await page.getByText('Valid.').waitFor();
  await page.getByRole('textbox', { name: 'Notes' }).fill('Louder');
  await page.getByRole('checkbox', { name: /^Pin this version/ }).uncheck();
  await page.getByRole('button', { name: 'Save version' }).click();
  await page.getByText('Saved as v2. “v1” stays pinned.').waitFor();
  await check();
  await page.getByRole('link', { name: 'Versions' }).click();
  await page.getByRole('cell', { name: 'Louder' }).waitFor();
  await page.getByRole('textbox', { name: 'Definition of v2' }).waitFor();
  await check();
  await page.getByRole('button', { name: 'Pin v2' }).click();
  const dialog = page.getByRole('dialog', { name: 'Pin v2?' });
  await dialog.getByRole('textbox', { name: 'Definition of v2' }).waitFor();
  await check();
  await dialog.getByRole('button', { name: 'Pin v2' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Roll back to v1' }).waitFor();
});

test('shows a webhook secret once, and its snippets start workflow runs', async () => {
  const { agentId } = await addAgent(service);
  const { workflowId } = await makeWorkflow(service, greeting(agentId));
  const { page, check } = await visit(`/workflows/${workflowId}/triggers`, {
    as: 'editor',
    intercepts: true,
  });
  await page.getByRole('button', { name: 'New webhook' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Desk');
  await page.keyboard.press('Enter');
  const issued = page.getByRole('dialog', { name: 'Secret of Desk' });
  const secret = await issued.getByText(/^whsec_/).innerText();
  // A held Enter must not close the dialog.
  await page.keyboard.press('Enter');
  assert.equal(await issued.locator('button:focus').count(), 0);
  await check();
  const shell = await issued.getByText(/^ID=/).innerText();
  await issued.getByText('Node', { exact: true }).click();
  const script = await issued.getByText(/createHmac/).innerText();
  const env = { ...process.env, CUELINE_WEBHOOK_SECRET: secret };
  const node = ['--input-type=module', '--eval', script];
  assert.match((await run(process.execPath, node, { env })).stdout, /^202 .*"wfr_/);
  assert.match((await run('sh', ['-c', shell], { env })).stdout, /"wfr_/);
  await issued.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Actions for Desk' }).click();
  await page.getByRole('menuitem', { name: 'Rotate secret' }).click();
  await page.route('**/webhooks?*', (route) => route.fulfill({ status: 500, json: problem }));
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
  await page.getByText('This may be out of date. It broke.').waitFor();
  assert.notEqual(await issued.getByText(/^whsec_/).innerText(), secret);
  await issued.getByRole('button', { name: 'Done' }).click();
  await page.unroute('**/webhooks?*');
  await page.getByRole('button', { name: 'Try again' }).click();
  assert.match((await run(process.execPath, node, { env })).stdout, /^401/);
  await page.getByRole('button', { name: 'Actions for Desk' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page
    .getByRole('dialog', { name: 'Delete Desk?' })
    .getByRole('button', { name: 'Delete' })
    .click();
  await page.getByText('A webhook is a URL').waitFor();
  await check();
});

test('viewers cannot change a workflow; an editor disables, finds and deletes it', async () => {
  const { agentId } = await addAgent(service);
  const made = await makeWorkflow(service, greeting(agentId), { name: 'Harbour round' });
  const path = `/workflows/${made.workflowId}`;
  const viewer = await visit(`${path}/definition`, { as: 'viewer' });
  await viewer.page.getByRole('textbox', { name: 'Definition' }).getByText('greet').waitFor();
  assert.equal(await viewer.page.getByRole('button', { name: 'Save version' }).count(), 0);
  await viewer.check();
  const { page, check } = await visit('/agents', {
    as: 'editor',
    viewport: { width: 360, height: 740 },
  });
  await page.getByRole('heading', { name: 'Agents', exact: true }).waitFor();
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByPlaceholder(/^Search pages/).fill('harbour');
  await page.getByRole('button', { name: 'Harbour round' }).click();
  await page.waitForURL(`**${path}`);
  await page.getByRole('button', { name: 'Workflow actions' }).click();
  await page.getByRole('menuitem', { name: 'Disable' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
  await page.getByText('Disabled', { exact: true }).waitFor();
  await check();
  await page.getByRole('navigation').getByRole('link', { name: 'Run', exact: true }).click();
  await page.getByRole('heading', { name: 'This workflow is disabled' }).waitFor();
  await page.getByRole('button', { name: 'Workflow actions' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.waitForURL('**/workflows');
  await page.goBack();
  await page.waitForURL(`**${path}`);
  await page.getByRole('alert').getByText('req_').waitFor();
});

test("shows the server's message if the list fails", async () => {
  const { page, check } = await visit('/agents', { as: 'viewer', intercepts: true });
  await page.route('**/api/v1/workflows?*', (route) =>
    route.fulfill({ status: 500, json: problem }),
  );
  await page.getByRole('link', { name: 'Workflows', exact: true }).click();
  await page.getByRole('alert').getByText('req_of_the_test').waitFor();
  await check();
});

const run = promisify(execFile);

const problem = {
  error: 'Internal error',
  message: 'It broke.',
  code: 'INTERNAL',
  requestId: 'req_of_the_test',
};

/** Greets each name of a list, then reports on all of them. */
function listing(agentId: string) {
  return {
    input: { required: ['names'] },
    steps: [
      {
        name: 'greet',
        agentId,
        forEach: { list: '{{input.names}}' },
        variables: { name: '{{item}}' },
      },
      { name: 'report', agentId, variables: { name: '{{steps.greet.output}}' } },
    ],
  };
}
