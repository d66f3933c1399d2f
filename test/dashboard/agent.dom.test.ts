import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { openPages } from './in-dom.ts';

const { service, visit } = await openPages();

test('viewers see no lifecycle actions', async () => {
  const agent = await addAgent(service);
  const { page } = await visit(`/agents/${agent.agentId}`, { as: 'viewer' });
  await page.getByRole('heading', { name: 'Lifecycle' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Pause' }).count(), 0);
});
