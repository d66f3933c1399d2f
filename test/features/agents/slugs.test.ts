import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../harness/created-workflows.ts';
import { startService } from '../../../harness/service.ts';
import { toId } from '../../../src/core/id.ts';
import { findWorkflowBySlug } from '../../../src/features/workflows/statements/workflows.ts';

const service = await startService();
after(service.close);
const { db, workspaceId, ownerId: userId } = service;
const owner = { workspaceId, userId, role: 'owner', allAgents: true, agentIds: [] } as const;

test('a slug finds its workflow, among those that the caller sees', async () => {
  const agent = await addAgent(service, { slug: 'mine', visibility: 'private' });
  const workflow = await makeWorkflow(service, greeting(agent.agentId), { slug: 'flow' });
  const found = await findWorkflowBySlug(db, owner, 'flow');
  assert.equal(found && toId('workflow', found.id), workflow.workflowId);

  const editor = { ...owner, userId: await service.member('editor'), role: 'editor' } as const;
  const elsewhere = { ...owner, ...(await service.workspace()) };
  for (const viewer of [editor, elsewhere, { ...owner, allAgents: false }]) {
    assert.equal(await findWorkflowBySlug(db, viewer, 'flow'), null);
  }
  assert.equal(await findWorkflowBySlug(db, owner, 'mine'), null);
});
