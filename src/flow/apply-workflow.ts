import { type DeclaredWorkflow, definitionOf, same } from '../core/declaration.ts';
import { CallFailure } from '../core/failure.ts';
import { toId } from '../core/id.ts';
import { fillDefinition } from '../core/workflow-fill.ts';
import type { Change, Ground } from './apply-declaration.ts';
import { changeWorkflow, createWorkflow, createWorkflowVersion } from './change-workflow.ts';

/** The workflow; where its definition is another, that becomes a version, which is pinned. */
export async function applyWorkflow(ground: Ground, declared: DeclaredWorkflow): Promise<void> {
  const { trx, caller, workflows, changes } = ground;
  const { name, description = null, enabled = true } = declared;
  const told = (one: Omit<Change, 'kind' | 'name'>) =>
    void changes.push({ kind: 'workflow', name, ...one });
  const definition = definitionOf(declared, (agent) => agentId(ground, agent));
  const known = workflows.find(name);
  if (!known) {
    await createWorkflow(trx, caller, { name, description, enabled, definition });
    return told({ action: 'create' });
  }
  if (!same(known.definition, fillDefinition(definition))) {
    const version = { label: null, notes: null, definition };
    const row = await createWorkflowVersion(trx, caller, known.id, version);
    await changeWorkflow(trx, caller, known.id, { workflowVersionId: row.id });
    told({ action: 'pin', field: 'definition', to: row.label });
  }
  for (const [field, from, to] of [
    ['description', known.description, description],
    ['enabled', known.enabled, enabled],
  ] as const) {
    if (from !== to) told({ action: 'change', field, from, to });
  }
  await changeWorkflow(trx, caller, known.id, { description, enabled });
}

function agentId({ agents }: Ground, name: string): string {
  const agent = agents.find(name);
  if (agent) return toId('agent', agent.id);
  throw new CallFailure('INVALID_REQUEST', `There is no agent "${name}".`);
}
