import type { Db, Trx } from '../../../db/database.ts';
import { containsText, type Page, readPage } from '../../../db/page.ts';
import { sql } from '../../../db/sql.ts';
import {
  parseDefinition,
  type WithDefinition,
  type WithDefinitionText,
} from '../../../engine/advance/workflow-definitions.ts';
import { deleteSlug } from '../../agents/statements/slugs.ts';
import { type Viewer, visibleIncludingDeleted } from '../../people/statements/visible-agents.ts';

/** Workflows that the caller may see: all agents of the pinned version must be visible. */

export interface WorkflowSummaryRow {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
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

export interface WorkflowRow extends WorkflowSummaryRow, WithDefinition {}

const summaryColumns = sql`w.id, w.name, s.slug, w.description, w.enabled, w.workflow_version_id,
  v.label as workflow_version_label, v.number, json_array_length(v.definition -> 'steps') as step_count,
  w.revision, w.created_by, w.created_at, w.updated_at`;
const workflowColumns = sql`${summaryColumns}, v.definition`;
const joined = sql`workflows w join workflow_versions v on v.id = w.workflow_version_id
  join slugs s on s.subject = w.id`;

/**
 * SQL: whether a caller sees version `v` and its runs, which requires seeing all of its agents. Deleted private agents count:
 * their workflow stays private, and their creator or an owner can repair it.
 */
export function versionVisibleTo(viewer: Viewer) {
  return sql`v.workspace_id = ${viewer.workspaceId} and not exists (
    select from agents a where a.id = any (v.agent_ids) and (${visibleIncludingDeleted(viewer)}) is not true)`;
}

/** SQL: whether a caller sees workflow `w`. */
function visibleTo(viewer: Viewer) {
  return sql`w.deleted_at is null and ${versionVisibleTo(viewer)}`;
}

export async function findWorkflow(
  db: Db,
  viewer: Viewer,
  id: string,
): Promise<WorkflowRow | null> {
  const { rows } = await sql<WithDefinitionText<WorkflowRow>>`
    select ${workflowColumns} from ${joined} where w.id = ${id} and ${visibleTo(viewer)}`.execute(
    db,
  );
  return rows[0] ? parseDefinition(rows[0]) : null;
}

/** The visible workflow with this slug. */
export async function findWorkflowBySlug(
  db: Db,
  viewer: Viewer,
  slug: string,
): Promise<WorkflowRow | null> {
  const { rows } = await sql<WithDefinitionText<WorkflowRow>>`
    select ${workflowColumns} from ${joined}
    where s.workspace_id = ${viewer.workspaceId} and s.slug = ${slug} and ${visibleTo(viewer)}`.execute(
    db,
  );
  return rows[0] ? parseDefinition(rows[0]) : null;
}

/** Newest first. */
export function listWorkflows(
  db: Db,
  viewer: Viewer,
  request: Page & { readonly q: string | null; readonly runId: string | null },
): Promise<{ rows: WorkflowSummaryRow[]; total: number }> {
  const { q, runId } = request;
  const found = (part: string) =>
    sql`and (${containsText(sql`w.name`, part)} or ${containsText(sql`w.description`, part)})`;
  const ofRun = sql`and w.id = (
    select r.workflow_id from workflow_runs r join workflow_versions v on v.id = r.workflow_version_id
    where r.id = ${runId}::uuid and ${versionVisibleTo(viewer)})`;
  const from = sql`${joined} where ${visibleTo(viewer)} ${q === null ? sql`` : found(q)}
    ${runId === null ? sql`` : ofRun}`;
  return readPage(db, { columns: summaryColumns, from, order: sql`w.id desc` }, request);
}

/** Whether a workflow has this name, visible or not. */
export async function workflowNameExists(
  db: Db,
  workspaceId: string,
  name: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from workflows
    where workspace_id = ${workspaceId} and name = ${name} and deleted_at is null`.execute(db);
  return rows.length > 0;
}

/** Locks a workflow for a change until the transaction ends. Its runs can still start. */
export async function lockWorkflow(
  trx: Trx,
  viewer: Viewer,
  id: string,
): Promise<WorkflowRow | null> {
  const { rows } = await sql<WithDefinitionText<WorkflowRow>>`
    select ${workflowColumns} from ${joined} where w.id = ${id} and ${visibleTo(viewer)}
    for no key update of w`.execute(trx);
  return rows[0] ? parseDefinition(rows[0]) : null;
}

/** A workflow, whether the caller still sees it or not. */
export async function readWorkflow(trx: Trx, id: string): Promise<WorkflowRow> {
  const { rows } = await sql<WithDefinitionText<WorkflowRow>>`
    select ${workflowColumns} from ${joined} where w.id = ${id}`.execute(trx);
  if (!rows[0]) throw new Error('The updated workflow does not exist.');
  return parseDefinition(rows[0]);
}

/** Inserts a workflow without a version and slug. False if the name is taken. */
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
  const { rowCount } = await sql`
    insert into workflows (id, workspace_id, name, description, enabled, created_by)
    values (${id}, ${workspaceId}, ${name}, ${description}, ${enabled}, ${createdBy})
    on conflict (workspace_id, name) where deleted_at is null do nothing`.execute(trx);
  return rowCount > 0;
}

/** Sets the first version of a new workflow, without a new revision. */
export async function setFirstVersion(trx: Trx, id: string, versionId: string): Promise<void> {
  await sql`update workflows set workflow_version_id = ${versionId} where id = ${id}`.execute(trx);
}

/** Needs the lock of the workflow. False if the name is taken; then the transaction must be rolled back. */
export async function updateWorkflow(
  trx: Trx,
  workflow: Pick<WorkflowRow, 'id' | 'name' | 'description' | 'enabled' | 'workflowVersionId'> & {
    readonly workspaceId: string;
  },
): Promise<boolean> {
  const { id, workspaceId, name, description, enabled, workflowVersionId } = workflow;
  try {
    const { rowCount } = await sql`
      update workflows set name = ${name}, description = ${description}, enabled = ${enabled},
        workflow_version_id = ${workflowVersionId}, revision = revision + 1, updated_at = clock_timestamp()
      where id = ${id} and not exists (
        select from workflows o where o.workspace_id = ${workspaceId} and o.name = ${name}
          and o.deleted_at is null and o.id <> ${id})`.execute(trx);
    return rowCount > 0;
  } catch (error) {
    // A name taken by an uncommitted transaction is found only by the unique index.
    if ((error as { constraint?: string }).constraint === 'workflows_by_name') return false;
    throw error;
  }
}

/** Deletes the workflow with its schedules, which must be locked, and its webhooks. Frees its slug. */
export async function markWorkflowDeleted(trx: Trx, id: string): Promise<void> {
  await sql`delete from workflow_schedules where workflow_id = ${id}`.execute(trx);
  await sql`delete from workflow_webhooks where workflow_id = ${id}`.execute(trx);
  await sql`
    update workflows set deleted_at = clock_timestamp(), revision = revision + 1,
      updated_at = clock_timestamp()
    where id = ${id}`.execute(trx);
  await deleteSlug(trx, id);
}
