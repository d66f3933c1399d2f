import { type RawBuilder, sql } from 'kysely';
import { seenBy, type Viewer } from '../agent/agents.ts';
import type { Db, Trx } from '../connection/database.ts';
import { holds, type Page, readPage } from '../page.ts';
import { type Defined, type Stored, parseDefinition } from './workflow-definitions.ts';

/** Workflows, as far as whoever asks sees them: every agent of the pinned version. */

export interface WorkflowSummaryRow {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly enabled: boolean;
  readonly workflowVersionId: string;
  readonly workflowVersionLabel: string;
  readonly number: number;
  readonly stepCount: number;
  readonly revision: number;
  readonly createdBy: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface WorkflowRow extends WorkflowSummaryRow, Defined {}

const summary = sql.raw(`w.id, w.name, w.description, w.enabled, w.workflow_version_id,
  v.label as workflow_version_label, v.number, json_array_length(v.definition -> 'steps') as step_count,
  w.revision, w.created_by, w.created_at, w.updated_at`);
const whole = sql`${summary}, v.definition`;
const joined = sql.raw('workflows w join workflow_versions v on v.id = w.workflow_version_id');

/**
 * Whether a caller sees a version `v`: whoever may not see one of its agents sees none of it. Agents that were deleted
 * since do not count, or nobody could mend the workflow.
 */
export function versionVisibleTo(viewer: Viewer) {
  return noneHidden(viewer, sql`and a.deleted_at is null`);
}

/** Whether a caller sees the runs of a version `v`. What a private agent wrote stays private after the agent. */
export function runVisibleTo(viewer: Viewer) {
  return noneHidden(viewer, sql``);
}

function noneHidden(viewer: Viewer, counts: RawBuilder<unknown>) {
  return sql`v.workspace_id = ${viewer.workspaceId} and not exists (
    select from agents a where a.id = any (v.agent_ids) ${counts} and (${seenBy(viewer)}) is not true)`;
}

/** The workflows `w` that there are for a caller. */
function visibleTo(viewer: Viewer) {
  return sql`w.deleted_at is null and ${versionVisibleTo(viewer)}`;
}

export async function findWorkflow(
  db: Db,
  viewer: Viewer,
  id: string,
): Promise<WorkflowRow | null> {
  const { rows } = await sql<Stored<WorkflowRow>>`
    select ${whole} from ${joined} where w.id = ${id} and ${visibleTo(viewer)}`.execute(db);
  return rows[0] ? parseDefinition(rows[0]) : null;
}

/** Newest first. */
export function listWorkflows(
  db: Db,
  viewer: Viewer,
  question: Page & { readonly q: string | null },
): Promise<{ rows: WorkflowSummaryRow[]; total: number }> {
  const { q } = question;
  const found = (part: string) =>
    sql`and (${holds(sql`w.name`, part)} or ${holds(sql`w.description`, part)})`;
  const from = sql`${joined} where ${visibleTo(viewer)} ${q === null ? sql`` : found(q)}`;
  return readPage(db, { columns: summary, from, order: sql`w.id desc` }, question);
}

/** Whether a workflow has this name, whoever sees it. */
export async function workflowNameExists(db: Db, workspaceId: string, name: string): Promise<boolean> {
  const { rows } = await sql`
    select from workflows
    where workspace_id = ${workspaceId} and name = ${name} and deleted_at is null`.execute(db);
  return rows.length > 0;
}

/** Locks a workflow for a change, until the transaction ends. Runs of it may begin meanwhile. */
export async function lockWorkflow(
  trx: Trx,
  viewer: Viewer,
  id: string,
): Promise<WorkflowRow | null> {
  const { rows } = await sql<Stored<WorkflowRow>>`
    select ${whole} from ${joined} where w.id = ${id} and ${visibleTo(viewer)}
    for no key update of w`.execute(trx);
  return rows[0] ? parseDefinition(rows[0]) : null;
}

/** A workflow whatever the caller sees of it by now. */
export async function readWorkflow(trx: Trx, id: string): Promise<WorkflowRow> {
  const { rows } = await sql<Stored<WorkflowRow>>`
    select ${whole} from ${joined} where w.id = ${id}`.execute(trx);
  if (!rows[0]) throw new Error('the workflow that was written is gone');
  return parseDefinition(rows[0]);
}

/** Still without a version. False where the name is taken. */
export async function insertWorkflow(
  trx: Trx,
  workflow: {
    readonly id: string;
    readonly workspaceId: string;
    readonly name: string;
    readonly description: string | null;
    readonly enabled: boolean;
    readonly createdBy: string | null;
  },
): Promise<boolean> {
  const { id, workspaceId, name, description, enabled, createdBy } = workflow;
  const { numAffectedRows } = await sql`
    insert into workflows (id, workspace_id, name, description, enabled, created_by)
    values (${id}, ${workspaceId}, ${name}, ${description}, ${enabled}, ${createdBy})
    on conflict (workspace_id, name) where deleted_at is null do nothing`.execute(trx);
  return Number(numAffectedRows ?? 0) > 0;
}

/** The first version of a new workflow: no change that anyone could have seen. */
export async function setFirstVersion(trx: Trx, id: string, versionId: string): Promise<void> {
  await sql`update workflows set workflow_version_id = ${versionId} where id = ${id}`.execute(trx);
}

/** Of a workflow that is locked. False where the name is taken by another, after which nothing more can be written. */
export async function updateWorkflow(
  trx: Trx,
  workflow: Pick<WorkflowRow, 'id' | 'name' | 'description' | 'enabled' | 'workflowVersionId'> & {
    readonly workspaceId: string;
  },
): Promise<boolean> {
  const { id, workspaceId, name, description, enabled, workflowVersionId } = workflow;
  try {
    const { numAffectedRows } = await sql`
      update workflows set name = ${name}, description = ${description}, enabled = ${enabled},
        workflow_version_id = ${workflowVersionId}, revision = revision + 1, updated_at = clock_timestamp()
      where id = ${id} and not exists (
        select from workflows o where o.workspace_id = ${workspaceId} and o.name = ${name}
          and o.deleted_at is null and o.id <> ${id})`.execute(trx);
    return Number(numAffectedRows ?? 0) > 0;
  } catch (error) {
    // Who takes the name in a transaction that is not yet committed is seen by the index alone.
    if ((error as { constraint?: string }).constraint === 'workflows_by_name') return false;
    throw error;
  }
}

/** Takes the workflow from view, and what starts runs of it away; its schedules are locked. */
export async function markWorkflowDeleted(trx: Trx, id: string): Promise<void> {
  await sql`delete from workflow_schedules where workflow_id = ${id}`.execute(trx);
  await sql`delete from workflow_webhooks where workflow_id = ${id}`.execute(trx);
  await sql`
    update workflows set deleted_at = clock_timestamp(), revision = revision + 1,
      updated_at = clock_timestamp()
    where id = ${id}`.execute(trx);
}
