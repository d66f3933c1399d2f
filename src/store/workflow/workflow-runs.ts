import { sql } from 'kysely';
import type {
  StepStatus,
  WorkflowFailureCode,
  WorkflowRunStatus,
  WorkflowTrigger,
} from '../../core/workflow/definition.ts';
import type { Db } from '../connection/database.ts';
import { type Page, readPage } from '../page.ts';

/** What runs of workflows and their steps are read as. */

/** A run as lists hold it. */
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
}

export interface WorkflowRunRow extends WorkflowRunSummaryRow {
  /** JSON texts; null once the bodies have gone, the output also until the run has succeeded. */
  readonly input: string | null;
  readonly output: string | null;
}

/** The columns of a `WorkflowRunSummaryRow` of a run `r` and its version `v`. */
const short = `r.id, r.workflow_id, r.workflow_version_id, v.label as workflow_version_label, r.status,
  r.trigger, r.api_key_id, r.executed_by, r.executed_at, r.completed_at, r.deadline_at, r.error_code,
  r.error, r.failed_step`;
export const listedRun = sql.raw(short);
/** Those of a `WorkflowRunRow`. */
export const wholeRun = sql.raw(`${short}, r.input, r.output`);
/** The same without its bodies, which PostgreSQL stores apart where they are long, and then need not look up. */
export const summarizedRun = sql.raw(`${short}, null::text as input, null::text as output`);

/** A step that has a row: the others wait, or were never reached. */
export interface WorkflowStepRow {
  readonly step: string;
  /** -1, but for an item of a list. */
  readonly item: number;
  readonly status: Exclude<StepStatus, 'waiting'>;
  /** When anyone may take it, while it is ready. */
  readonly readyAt: Date | null;
  readonly executionId: string | null;
  readonly failedExecutionId: string | null;
  readonly fallback: boolean;
  /** How long the list is, of a step that fans out. */
  readonly itemsCount: number | null;
  readonly errorCode: string | null;
  readonly error: string | null;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
}

const stepColumns =
  sql.raw(`step, item, status, ready_at, execution_id, failed_execution_id, fallback, items_count,
  error_code, error, started_at, completed_at`);

/** The longest list that a step may have. */
const itemsMax = 1_000;

/** By step and item; of each list the first so many items. */
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

/** How far the lists of a run have come, by step. */
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

/** Items of a step that have begun, in the order of the list. */
export function listItems(
  db: Db,
  { runId, step, status }: { runId: string; step: string; status: StepStatus | null },
  page: Page,
): Promise<{ rows: WorkflowStepRow[]; total: number }> {
  const from = sql`workflow_steps where run_id = ${runId} and step = ${step} and item >= 0
    ${status === null ? sql`` : sql`and status = ${status}`}`;
  return readPage(db, { columns: stepColumns, from, order: sql`item` }, page);
}

/** Those of these runs that have ended, or are gone. */
export async function findEndedWorkflowRuns(db: Db, runIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select asked.id::text as id from unnest(${runIds}::uuid[]) as asked (id)
    where not exists (select from workflow_runs r where r.id = asked.id and r.completed_at is null)`.execute(
    db,
  );
  return rows.map((row) => row.id);
}
