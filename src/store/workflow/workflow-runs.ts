import type {
  StepStatus,
  WorkflowFailureCode,
  WorkflowRunStatus,
  WorkflowTrigger,
} from '../../core/workflow/definition.ts';
import type { Db } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { type Page, readPage } from '../page.ts';

/** The rows of workflow runs and their steps. */

/** A workflow run in a list. */
export interface WorkflowRunSummaryRow {
  readonly id: string;
  readonly workflowId: string;
  readonly workflowVersionId: string;
  readonly workflowVersionLabel: string;
  readonly trigger: WorkflowTrigger;
  readonly status: WorkflowRunStatus;
  readonly apiKeyId: string | null;
  readonly executedBy: string | null;
  readonly executedAt: Date;
  readonly completedAt: Date | null;
  readonly deadlineAt: Date;
  readonly errorCode: WorkflowFailureCode | null;
  readonly error: string | null;
  readonly failedStep: string | null;
  /** JSON text; null if it has none. */
  readonly labels: string | null;
}

export interface WorkflowRunRow extends WorkflowRunSummaryRow {
  /** JSON texts; null after the bodies were removed. The output is also null until the run has succeeded. */
  readonly input: string | null;
  readonly output: string | null;
}

/** SQL: the columns of a `WorkflowRunSummaryRow` of run `r` and its version `v`. */
export const runSummaryColumns = sql`r.id, r.workflow_id, r.workflow_version_id, v.label as workflow_version_label, r.status,
  r.trigger, r.api_key_id, r.executed_by, r.executed_at, r.completed_at, r.deadline_at, r.error_code,
  r.error, r.failed_step, r.labels`;
/** SQL: the columns of a `WorkflowRunRow`. */
export const runColumns = sql`${runSummaryColumns}, r.input, r.output`;
/** SQL: without bodies. PostgreSQL stores long ones out of line and then need not read them. */
export const runColumnsWithoutBodies = sql`${runSummaryColumns}, null::text as input, null::text as output`;

/** A step with a row; steps without a row wait or were never reached. */
export interface WorkflowStepRow {
  readonly step: string;
  /** The index in the list; -1 if the step is not an item. */
  readonly item: number;
  readonly status: Exclude<StepStatus, 'waiting'>;
  /** When any process may call it, if it is ready. */
  readonly readyAt: Date | null;
  readonly executionId: string | null;
  readonly failedExecutionId: string | null;
  readonly fallback: boolean;
  /** The length of the list, if the step fans out. */
  readonly itemsCount: number | null;
  readonly errorCode: string | null;
  readonly error: string | null;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
}

const stepColumns = sql`step, item, status, ready_at, execution_id, failed_execution_id, fallback, items_count,
  error_code, error, started_at, completed_at`;

/** The maximum length of a list. */
const itemsMax = 1_000;

/** By step and item; the first `itemsShown` items of each list. */
export async function listSteps(
  db: Db,
  runId: string,
  itemsShown = itemsMax,
): Promise<WorkflowStepRow[]> {
  const { rows } = await sql<WorkflowStepRow>`
    select ${stepColumns} from workflow_steps
    where run_id = ${runId} and item < ${itemsShown} order by step, item`.execute(db);
  return rows;
}

/** The progress of a list. */
export interface ItemCounts {
  readonly step: string;
  readonly begun: number;
  readonly ended: number;
}

export async function countItems(db: Db, runId: string): Promise<ItemCounts[]> {
  const { rows } = await sql<ItemCounts>`
    select step, count(*) as begun, count(completed_at) as ended from workflow_steps
    where run_id = ${runId} and item >= 0 group by step`.execute(db);
  return rows;
}

/** The items of a step that have begun, in list order. */
export function listItems(
  db: Db,
  { runId, step, status }: { runId: string; step: string; status: StepStatus | null },
  page: Page,
): Promise<{ rows: WorkflowStepRow[]; total: number }> {
  const from = sql`workflow_steps where run_id = ${runId} and step = ${step} and item >= 0
    ${status === null ? sql`` : sql`and status = ${status}`}`;
  return readPage(db, { columns: stepColumns, from, order: sql`item` }, page);
}
