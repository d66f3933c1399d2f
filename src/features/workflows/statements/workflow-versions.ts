import type { WorkflowDefinition } from '../../../core/workflow/definition.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { type Page, readPage } from '../../../db/page.ts';
import { sql } from '../../../db/sql.ts';
import {
  parseDefinition,
  type WithDefinition,
  type WithDefinitionText,
} from '../../../engine/advance/workflow-definitions.ts';
import type { Viewer } from '../../people/statements/visible-agents.ts';
import { versionVisibleTo } from './workflows.ts';

/** Versions of workflows, which are immutable, and their pins. */

export interface WorkflowVersionSummaryRow {
  readonly id: string;
  readonly workflowId: string;
  readonly number: number;
  readonly label: string;
  readonly stepCount: number;
  readonly notes: string | null;
  readonly createdBy: string | null;
  readonly createdAt: Date;
}

export interface WorkflowVersionRow extends WorkflowVersionSummaryRow, WithDefinition {}

export interface NewWorkflowVersion {
  readonly id: string;
  readonly workflowId: string;
  readonly workspaceId: string;
  readonly number: number;
  readonly label: string;
  readonly notes: string | null;
  readonly definition: WorkflowDefinition;
  /** The ids of all agents that the definition names. */
  readonly agentIds: readonly string[];
  readonly createdBy: string | null;
}

const summaryColumns = sql`v.id, v.workflow_id, v.number, v.label,
  json_array_length(v.definition -> 'steps') as step_count, v.notes, v.created_by, v.created_at`;
const versionColumns = sql`${summaryColumns}, v.definition`;

export async function findWorkflowVersion(
  db: Db,
  viewer: Viewer,
  workflowId: string,
  id: string,
): Promise<WorkflowVersionRow | null> {
  const { rows } = await sql<WithDefinitionText<WorkflowVersionRow>>`
    select ${versionColumns} from workflow_versions v
    where v.id = ${id} and v.workflow_id = ${workflowId} and ${versionVisibleTo(viewer)}`.execute(
    db,
  );
  return rows[0] ? parseDefinition(rows[0]) : null;
}

/** Newest first. */
export function listWorkflowVersions(
  db: Db,
  viewer: Viewer,
  workflowId: string,
  page: Page,
): Promise<{ rows: WorkflowVersionSummaryRow[]; total: number }> {
  const from = sql`workflow_versions v
    where v.workflow_id = ${workflowId} and ${versionVisibleTo(viewer)}`;
  return readPage(db, { columns: summaryColumns, from, order: sql`v.number desc` }, page);
}

/** Null if the workflow has a version with that label. */
export async function insertWorkflowVersion(
  trx: Trx,
  version: NewWorkflowVersion,
): Promise<WorkflowVersionRow | null> {
  const { id, workflowId, workspaceId, number, label, notes, definition, agentIds } = version;
  const { rows } = await sql<WithDefinitionText<WorkflowVersionRow>>`
    insert into workflow_versions as v
      (id, workflow_id, workspace_id, number, label, notes, definition, agent_ids, created_by)
    values (${id}, ${workflowId}, ${workspaceId}, ${number}, ${label}, ${notes},
      ${JSON.stringify(definition)}, ${agentIds}::uuid[], ${version.createdBy})
    on conflict (workflow_id, label) do nothing
    returning ${versionColumns}`.execute(trx);
  return rows[0] ? parseDefinition(rows[0]) : null;
}
