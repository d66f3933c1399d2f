import { sql } from 'kysely';
import type { WorkflowDefinition, WorkflowRunStatus, WorkflowTrigger } from '../core/workflow.ts';
import type { Viewer } from './agents.ts';
import type { Db } from './db.ts';
import { inSnapshot } from './history.ts';
import { type Page, readPage } from './page.ts';
import {
  findWorkflowRun,
  listSteps,
  type WorkflowRunRow,
  type WorkflowStepRow,
} from './workflow-runs.ts';
import { versionSeenBy } from './workflows.ts';

/** Reading the runs of workflows, as far as whoever asks sees every agent of the version they carry out. */

export interface WorkflowRunDetailRow extends WorkflowRunRow {
  readonly definition: WorkflowDefinition;
  /** Those that have begun, or were passed over. */
  readonly steps: readonly WorkflowStepRow[];
}

/** The run and its steps from one snapshot, so that they fit together. */
export function findSeenRun(
  db: Db,
  viewer: Viewer,
  workflowId: string,
  id: string,
): Promise<WorkflowRunDetailRow | null> {
  return inSnapshot(db, async (trx) => {
    const { rows } = await sql<{ definition: WorkflowDefinition }>`
      select v.definition from ${joined} where r.id = ${id} and ${versionSeenBy(viewer)}`.execute(
      trx,
    );
    const [seen] = rows;
    const run = seen && (await findWorkflowRun(trx, workflowId, id));
    return run ? { ...run, ...seen, steps: await listSteps(trx, id) } : null;
  });
}

/** A run as lists hold it. */
export type ListedRunRow = Omit<WorkflowRunRow, 'input' | 'output'>;

export interface WorkflowRunQuestion extends Page {
  readonly workflowId: string;
  readonly status: WorkflowRunStatus | null;
  readonly trigger: WorkflowTrigger | null;
  /** Only what comes after this run in the order of the list. */
  readonly after: string | null;
}

const listed =
  sql.raw(`r.id, r.workflow_id, r.workflow_version_id, v.label as workflow_version_label, r.status,
  r.trigger, r.api_key_id, r.executed_by, r.executed_at, r.completed_at, r.deadline_at, r.error_code,
  r.error, r.failed_step`);
const joined = sql.raw('workflow_runs r join workflow_versions v on v.id = r.workflow_version_id');

/** Newest first. The total counts what lies before `after` as well. */
export function listWorkflowRuns(
  db: Db,
  viewer: Viewer,
  { workflowId, status, trigger, after, ...page }: WorkflowRunQuestion,
): Promise<{ rows: ListedRunRow[]; total: number }> {
  const from = sql`${joined} where r.workflow_id = ${workflowId} and ${versionSeenBy(viewer)}
    ${status === null ? sql`` : sql`and r.status = ${status}`}
    ${trigger === null ? sql`` : sql`and r.trigger = ${trigger}`}`;
  const more = after === null ? sql`` : sql`and r.id < ${after}`;
  return readPage(db, { columns: listed, from, more, order: sql`r.id desc` }, page);
}
