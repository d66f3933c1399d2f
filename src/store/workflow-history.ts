import { sql } from 'kysely';
import type {
  StepStatus,
  WorkflowDefinition,
  WorkflowRunStatus,
  WorkflowTrigger,
} from '../core/workflow.ts';
import type { Viewer } from './agents.ts';
import type { Db } from './db.ts';
import { type Page, readPage } from './page.ts';
import { versionSeenBy } from './workflows.ts';

/** Reading the runs of workflows, as far as whoever asks sees every agent of the version they carry out. */

export interface WorkflowRunRow {
  readonly id: string;
  readonly workflowId: string;
  readonly workflowVersionId: string;
  readonly workflowVersionLabel: string;
  readonly status: WorkflowRunStatus;
  readonly trigger: WorkflowTrigger;
  readonly apiKeyId: string | null;
  readonly executedBy: string | null;
  readonly executedAt: Date;
  readonly completedAt: Date | null;
  readonly deadlineAt: Date;
  readonly errorCode: string | null;
  readonly error: string | null;
  readonly failedStep: string | null;
}

export interface WorkflowRunDetailRow extends WorkflowRunRow {
  /** JSON texts. */
  readonly input: string;
  readonly output: string | null;
  readonly definition: WorkflowDefinition;
  /** Those that have begun, or were passed over; the items of a list after its step. */
  readonly steps: readonly WorkflowStepRow[];
}

export interface WorkflowStepRow {
  readonly step: string;
  /** -1, but for an item of a list. */
  readonly item: number;
  readonly status: Exclude<StepStatus, 'waiting'>;
  readonly executionId: string | null;
  readonly failedExecutionId: string | null;
  readonly fallback: boolean;
  readonly itemsCount: number | null;
  readonly errorCode: string | null;
  readonly error: string | null;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
}

const listed =
  sql.raw(`r.id, r.workflow_id, r.workflow_version_id, v.label as workflow_version_label, r.status,
  r.trigger, r.api_key_id, r.executed_by, r.executed_at, r.completed_at, r.deadline_at, r.error_code,
  r.error, r.failed_step`);
const joined = sql.raw('workflow_runs r join workflow_versions v on v.id = r.workflow_version_id');

/** The run and its steps from one snapshot, so that they fit together. */
export function findWorkflowRun(
  db: Db,
  viewer: Viewer,
  workflowId: string,
  id: string,
): Promise<WorkflowRunDetailRow | null> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      const { rows } = await sql<Omit<WorkflowRunDetailRow, 'steps'>>`
        select ${listed}, r.input, r.output, v.definition from ${joined}
        where r.id = ${id} and r.workflow_id = ${workflowId}
          and ${versionSeenBy(viewer)}`.execute(trx);
      const run = rows[0];
      if (!run) return null;
      const steps = await sql<WorkflowStepRow>`
        select step, item, status, execution_id, failed_execution_id, fallback, items_count, error_code,
          error, started_at, completed_at
        from workflow_steps where run_id = ${id} order by step, item`.execute(trx);
      return { ...run, steps: steps.rows };
    });
}

export interface WorkflowRunQuestion extends Page {
  readonly workflowId: string;
  readonly status: WorkflowRunStatus | null;
  readonly trigger: WorkflowTrigger | null;
  /** Only what comes after this run in the order of the list. */
  readonly after: string | null;
}

/** Newest first. The total counts what lies before `after` as well. */
export async function listWorkflowRuns(
  db: Db,
  viewer: Viewer,
  { workflowId, status, trigger, after, ...page }: WorkflowRunQuestion,
): Promise<{ rows: WorkflowRunRow[]; total: number }> {
  const from = sql`${joined} where r.workflow_id = ${workflowId} and ${versionSeenBy(viewer)}
    ${status === null ? sql`` : sql`and r.status = ${status}`}
    ${trigger === null ? sql`` : sql`and r.trigger = ${trigger}`}`;
  const more = after === null ? sql`` : sql`and r.id < ${after}`;
  return readPage<WorkflowRunRow>(db, { columns: listed, from, more, order: sql`r.id desc` }, page);
}

/** Of these runs, those that have ended or are gone. */
export async function findEndedWorkflowRuns(db: Db, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from workflow_runs where id = any (${ids}::uuid[]) and status <> 'processing'`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}
