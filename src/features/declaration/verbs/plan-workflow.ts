import { invalidRequest } from '../../../core/failure.ts';
import { toId } from '../../../core/id.ts';
import { identical } from '../../../core/json.ts';
import { requireFreeNames } from '../../agents/verbs/take-slug.ts';
import { nextVersion } from '../../prompts/statements/next-version.ts';
import { type DefinitionDraft, fillDefinition } from '../../workflows/rules/fill-definition.ts';
import { workflowNameExists } from '../../workflows/statements/workflows.ts';
import {
  changeWorkflow,
  createWorkflow,
  createWorkflowVersion,
  nameTaken,
  type WorkflowPatch,
} from '../../workflows/verbs/change-workflow.ts';
import { agentIdsOf, checkAgainst, sound } from '../../workflows/verbs/check-workflow.ts';
import { type DeclaredWorkflow, definitionOf } from '../rules/declaration.ts';
import type { Change, Planning } from './planning.ts';

/** Plans a workflow. A different definition becomes a new version, which is pinned. */
export async function planWorkflow(planning: Planning, declared: DeclaredWorkflow): Promise<void> {
  const { trx, caller, agents, mayBeInactive, workflows, changes, add } = planning;
  const { name, slug, description = null, enabled = true } = declared;
  const addChange = (one: Omit<Change, 'kind' | 'name'>) =>
    void changes.push({ kind: 'workflow', name, ...one });
  const definition = definitionOf(declared, (agent) => agentId(planning, agent));
  const requireValidDefinition = (draft: DefinitionDraft) =>
    sound(checkAgainst(agents.ofIds(agentIdsOf(draft)), draft, mayBeInactive));
  const known = workflows.find(name);
  if (slug !== undefined) await requireFreeNames(trx, caller.workspaceId, { slug }, known?.id);
  if (!known) {
    requireValidDefinition(definition);
    // A workflow with agents that the caller does not see is not among the known ones.
    if (await workflowNameExists(trx, caller.workspaceId, name)) throw nameTaken(name);
    addChange({ action: 'create' });
    const input = { name, slug: slug ?? null, description, enabled, definition, mayBeInactive };
    return add((at) => createWorkflow(at, caller, input));
  }
  const { id } = known;
  if (!identical(fillDefinition(known.definition), fillDefinition(definition))) {
    requireValidDefinition(definition);
    const { label } = await nextVersion(trx, 'workflow', id);
    addChange({ action: 'pin', field: 'definition', to: label });
    add(async (at) => {
      const version = { label, notes: null, definition, mayBeInactive };
      const { id: workflowVersionId } = await createWorkflowVersion(at, caller, id, version);
      await changeWorkflow(at, caller, id, { workflowVersionId, mayBeInactive });
    });
  }
  const patch: WorkflowPatch = {
    ...(known.description !== description && { description }),
    ...(known.enabled !== enabled && { enabled }),
    ...(slug !== undefined && known.slug !== slug && { slug }),
  };
  for (const field of ['slug', 'description', 'enabled'] as const) {
    if (field in patch)
      addChange({ action: 'change', field, from: known[field], to: patch[field] });
  }
  if (Object.keys(patch).length > 0) add((at) => changeWorkflow(at, caller, id, patch));
}

function agentId({ agents }: Planning, name: string): string {
  const agent = agents.find(name);
  if (agent) return toId('agent', agent.id);
  throw invalidRequest(`There is no agent "${name}".`);
}
