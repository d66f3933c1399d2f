import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPages } from './in-dom.ts';

const { service, visit } = await openPages();

/** An owner of a workspace of their own. */
async function _ownWorkspace() {
  const { workspaceId, ownerId } = await service.workspace();
  return { workspaceId, as: { userId: ownerId } };
}

test('viewers see no checklist', async () => {
  const { page } = await visit('/', { as: 'viewer' });
  await page.getByText('AI Actions this month').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Dismiss' }).count(), 0);
});
