import type {
  StepStatus,
  WorkflowFailureCode,
  WorkflowRunStatus,
  WorkflowTrigger,
} from '../../../core/workflow/definition.ts';
import type { Db } from '../../../db/database.ts';
import { type Page, readPage } from '../../../db/page.ts';
import { sql } from '../../../db/sql.ts';

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
  readonly rerunOf: string | null;
  readonly rerunStep: string | null;
  /** JSON text; null if it has none. */
  readonly labels: string | null;
  /** Decimal text; null for no limit. */
  readonly maxCostUsd: string | null;
}

export interface WorkflowRunRow extends WorkflowRunSummaryRow {
  /** JSON texts; null after the bodies were removed. The output is also null until the run has succeeded. */
  readonly input: string | null;
  readonly output: string | null;
}

/** SQL: the columns of a `WorkflowRunSummaryRow` of run `r` and its version `v`. */
export const runSummaryColumns = sql`r.id, r.workflow_id, r.workflow_version_id, v.label as workflow_version_label, r.status,
  r.trigger, r.api_key_id, r.executed_by, r.executed_at, r.completed_at, r.deadline_at, r.error_code,
  r.error, r.failed_step, r.labels, r.max_cost_usd, (select rerun_of from workflow_reruns where run_id = r.id) as rerun_of,
  (select step from workflow_reruns where run_id = r.id) as rerun_step`;
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
  readonly succeeded: number;
  readonly failed: number;
}

export async function countItems(db: Db, runId: string): Promise<ItemCounts[]> {
  const { rows } = await sql<ItemCounts>`
    select step, count(*) as begun, count(completed_at) as ended,
      count(*) filter (where status = 'success') as succeeded, count(*) filter (where status = 'failed') as failed
    from workflow_steps
    where run_id = ${runId} and item >= 0 group by step`.execute(db);
  return rows;
}

/** The items of a run with failed ones, of all its steps. */
export interface FailedItems {
  readonly itemCount: number;
  readonly itemsSucceeded: number;
  readonly itemsFailed: number;
}

const failedItem = sql`s.item >= 0 and s.status = 'failed'`;

/** SQL: the columns of `FailedItems` of run `r`; null if none of its items has failed. Reads the steps of no other run. */
export const failedItemsJoin = sql`left join lateral (
  select sum(s.items_count)::int as item_count, (count(*) filter (where s.item >= 0 and s.status = 'success'))::int as items_succeeded,
    (count(*) filter (where ${failedItem}))::int as items_failed
  from workflow_steps s where s.run_id = r.id and exists (select from runs_with_failed_items f where f.run_id = r.id)
  having count(*) filter (where ${failedItem}) > 0) as failed on true`;

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
