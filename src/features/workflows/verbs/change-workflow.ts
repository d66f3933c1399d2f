import { CallFailure, requireFound } from '../../../core/failure.ts';
import { toId, uuid7 } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { type Precondition, refuseStale } from '../../../core/precondition.ts';
import { readClock } from '../../../db/clock.ts';
import { type Db, inTransaction, type Trx } from '../../../db/database.ts';
import { pinVersion } from '../../agents/verbs/pin-version.ts';
import { changeSlug, takeSlug, withSlugs } from '../../agents/verbs/take-slug.ts';
import { auditChange } from '../../people/verbs/audit-change.ts';
import { nextVersion } from '../../prompts/statements/next-version.ts';
import type { DefinitionDraft } from '../rules/fill-definition.ts';
import { lockSchedulesOf } from '../statements/schedules.ts';
import {
  findWorkflowVersion,
  insertWorkflowVersion,
  type WorkflowVersionRow,
} from '../statements/workflow-versions.ts';
import {
  findWorkflow,
  insertWorkflow,
  lockWorkflow,
  markWorkflowDeleted,
  readWorkflow,
  setFirstVersion,
  updateWorkflow,
  type WorkflowRow,
} from '../statements/workflows.ts';
import { type Checked, requireValidDefinition } from './check-workflow.ts';

/** Creates, changes and deletes workflows, adds versions and pins them. */

interface CheckOptions {
  /** The stored ids of agents that need not accept calls. None if omitted. */
  readonly mayBeInactive?: ReadonlySet<string>;
}

export interface WorkflowInput extends CheckOptions {
  readonly name: string;
  /** Null for one derived from the name. */
  readonly slug: string | null;
  readonly description: string | null;
  readonly enabled: boolean;
  readonly definition: DefinitionDraft;
}

/** Creates a workflow with its first version and pin in one transaction. */
export async function createWorkflow(
  db: Db,
  caller: Caller,
  { definition, slug, mayBeInactive, ...input }: WorkflowInput,
): Promise<WorkflowRow> {
  return withSlugs(db, caller.workspaceId, async (trx) => {
    const checked = await requireValidDefinition(trx, caller, definition, mayBeInactive);
    const { workspaceId, userId } = caller;
    const id = uuid7(await readClock(trx));
    if (!(await insertWorkflow(trx, { ...input, id, workspaceId, createdBy: userId }))) {
      throw nameTaken(input.name);
    }
    await takeSlug(trx, { kind: 'workflow', id, workspaceId }, { slug, name: input.name });
    const version = await addVersion(trx, caller, id, checked, { label: null, notes: null });
    await setFirstVersion(trx, id, version.id);
    await pinVersion(trx, 'workflow', { ownerId: id, versionId: version.id, pinnedBy: userId });
    await auditChange(trx, caller, 'workflow.create', id, { name: input.name });
    return readWorkflow(trx, id);
  });
}

export interface WorkflowVersionInput extends CheckOptions {
  /** Null for the default, see `defaultLabel`. */
  readonly label: string | null;
  readonly notes: string | null;
  readonly definition: DefinitionDraft;
}

/** The lock on the workflow keeps the numbers unique and without gaps. */
export async function createWorkflowVersion(
  db: Db,
  caller: Caller,
  workflowId: string,
  { definition, mayBeInactive, ...input }: WorkflowVersionInput,
): Promise<WorkflowVersionRow> {
  return inTransaction(db, async (trx) => {
    const workflow = await locked(trx, caller, workflowId);
    const checked = await requireValidDefinition(trx, caller, definition, mayBeInactive);
    return addVersion(trx, caller, workflow.id, checked, input);
  });
}

export interface WorkflowPatch extends CheckOptions {
  readonly name?: string;
  readonly slug?: string;
  readonly description?: string | null;
  readonly enabled?: boolean;
  readonly workflowVersionId?: string;
}

/** A change to the current values does nothing. A newly pinned version is validated again, because agents change. */
export async function changeWorkflow(
  db: Db,
  caller: Caller,
  workflowId: string,
  patch: WorkflowPatch,
  isCurrent: Precondition = () => true,
): Promise<WorkflowRow> {
  if (patch.slug === undefined) return writeChange(db, caller, workflowId, patch, isCurrent);
  return withSlugs(db, caller.workspaceId, (trx) =>
    writeChange(trx, caller, workflowId, patch, isCurrent),
  );
}

function writeChange(
  db: Db,
  caller: Caller,
  workflowId: string,
  patch: WorkflowPatch,
  isCurrent: Precondition,
): Promise<WorkflowRow> {
  return inTransaction(db, async (trx) => {
    const workflow = await locked(trx, caller, workflowId);
    refuseStale(workflow.revision, isCurrent);
    const {
      workflowVersionId: versionId = workflow.workflowVersionId,
      mayBeInactive,
      ...others
    } = patch;
    const fields = (Object.keys(others) as (keyof typeof others)[]).filter(
      (field) => others[field] !== workflow[field],
    );
    const isRepinned = versionId !== workflow.workflowVersionId;
    if (fields.length === 0 && !isRepinned) return workflow;
    if (isRepinned) {
      const found = await findWorkflowVersion(trx, caller, workflow.id, versionId);
      const version = requireFound(found, 'version', 'workflow');
      await requireValidDefinition(trx, caller, version.definition, mayBeInactive);
      await pinVersion(trx, 'workflow', {
        ownerId: workflow.id,
        versionId: version.id,
        pinnedBy: caller.userId,
      });
      const details = { workflowVersionId: toId('workflowVersion', version.id) };
      await auditChange(trx, caller, 'workflow.pin', workflow.id, details);
    }
    const changed = { ...workflow, ...others, workspaceId: caller.workspaceId };
    const pinned = { ...changed, workflowVersionId: versionId };
    if (!(await updateWorkflow(trx, pinned))) throw nameTaken(changed.name);
    if (changed.slug !== workflow.slug) await changeSlug(trx, changed, changed.slug);
    if (fields.length > 0)
      await auditChange(trx, caller, 'workflow.change', workflow.id, { fields });
    return readWorkflow(trx, workflow.id);
  });
}

/** Live workflow runs continue to their end. New ones cannot start. */
export async function deleteWorkflow(
  db: Db,
  caller: Caller,
  workflowId: string,
  isCurrent: Precondition,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    const visible = requireFound(await findWorkflow(trx, caller, workflowId), 'workflow');
    // Before the workflow: a firing schedule is locked while it starts a workflow run.
    await lockSchedulesOf(trx, visible.id);
    const { id, revision } = await locked(trx, caller, workflowId);
    refuseStale(revision, isCurrent);
    await markWorkflowDeleted(trx, id);
    await auditChange(trx, caller, 'workflow.delete', id);
  });
}

async function locked(trx: Trx, caller: Caller, id: string): Promise<WorkflowRow> {
  return requireFound(await lockWorkflow(trx, caller, id), 'workflow');
}

async function addVersion(
  trx: Trx,
  { workspaceId, userId: createdBy }: Caller,
  workflowId: string,
  { definition, agentIds }: Checked,
  input: Pick<WorkflowVersionInput, 'label' | 'notes'>,
): Promise<WorkflowVersionRow> {
  const next = await nextVersion(trx, 'workflow', workflowId);
  const label = input.label ?? next.label;
  const id = uuid7(await readClock(trx));
  const origin = { id, workflowId, workspaceId, number: next.number, createdBy };
  const content = { label, notes: input.notes, definition, agentIds };
  const version = await insertWorkflowVersion(trx, { ...origin, ...content });
  if (version) return version;
  throw new CallFailure(
    'CONFLICT',
    `The workflow already has a version with the label "${label}".`,
  );
}

export function nameTaken(name: string): CallFailure {
  return new CallFailure('CONFLICT', `There is a workflow with the name "${name}".`);
}
