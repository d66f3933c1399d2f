import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent, run } from '../../harness/agents.ts';
import { insertStatistics, tally } from '../../harness/statistics.ts';
import { sql } from '../../src/db/sql.ts';
import { openDashboard } from './harness.ts';

/** Where a cost is unknown, owners are led to the form for the price of the model. */

const { service, visit } = await openDashboard();
const { key } = await service.key();

test('a record of unknown cost leads to the price of its model', async () => {
  const agent = await addAgent(service, { model: 'acme/small' });
  const { executionId } = await run(service, agent, key);
  // The scripted models state a cost.
  await sql`update executions set cost_known = false, cost_source = 'unknown'
    where agent_id = ${agent.id}`.execute(service.db);
  const path = `/history/${agent.agentId}/${executionId}`;
  const { page, check } = await visit(path, { as: 'owner' });
  await page.getByRole('link', { name: 'Set a price' }).click();
  await page.waitForURL('**/settings/providers?priceOf=*');
  const dialog = page.getByRole('dialog', { name: 'Set price' });
  const typed = dialog.getByRole('combobox', { name: 'Model' });
  assert.equal(await typed.inputValue(), 'acme/small');
  await check();
  const viewer = await visit(path, { as: 'viewer' });
  await viewer.page.getByText('Unknown. An owner can set a price.').waitFor();
  await viewer.check();
});

test('the cost by model tells where a cost is unknown and leads to the price', async () => {
  const agent = await addAgent(service);
  const one = { agentId: agent.id, executedAtMs: Date.now() };
  await insertStatistics(service.db, [
    tally({ ...one, model: 'acme/large', costKnown: false }),
    tally({ ...one, model: 'openai/gpt-5-mini', costUsd: '2' }),
    tally({ ...one, model: 'cueline/echo', costKnown: false }),
  ]);
  const path = `/agents/${agent.agentId}/analytics?metric=cost`;
  const { page, check } = await visit(path, { as: 'owner' });
  const table = page.getByRole('table', { name: 'Cost by model' });
  await table.getByRole('row').filter({ hasText: 'acme/large' }).waitFor();
  await page.getByText('The cost of 2 of these is not known').waitFor();
  await check({ inDarkMode: true });
  assert.equal(await page.getByRole('link', { name: /^Set a price/ }).count(), 1);
  await page.getByRole('link', { name: 'Set a price for acme/large (1 of them)' }).click();
  await page.getByRole('dialog', { name: 'Set price' }).waitFor();
  const viewer = await visit(path, { as: 'viewer' });
  await viewer.page.getByText('The cost of 2 of these is not known').waitFor();
  assert.equal(await viewer.page.getByRole('link', { name: 'Set a price' }).count(), 0);
});
