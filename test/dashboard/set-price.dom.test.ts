import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent, run } from '../../harness/agents.ts';
import { sql } from '../../src/db/sql.ts';
import { openPages } from './in-dom.ts';

/** Where a cost is unknown, owners are led to the form for the price of the model. */

const { service, visit } = await openPages();
const { key } = await service.key();

test('a record whose usage is unknown, and one of a built-in model, ask for no price', async () => {
  for (const [model, tokens] of [
    ['acme/small', 0],
    ['cueline/echo', 5],
  ] as const) {
    const agent = await addAgent(service, { model });
    const { executionId } = await run(service, agent, key);
    await sql`update executions set cost_known = false, cost_source = 'unknown',
      input_tokens = ${tokens}, output_tokens = ${tokens}
      where agent_id = ${agent.id}`.execute(service.db);
    const path = `/history/${agent.agentId}/${executionId}`;
    const { page } = await visit(path, { as: 'owner' });
    await page.getByText('Unknown', { exact: true }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Set a price' }).count(), 0, model);
  }
});
