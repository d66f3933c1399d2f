import type { Db } from '../../../db/database.ts';
import { aboveFloor, idBounds } from '../../../db/id-bounds.ts';
import { sql } from '../../../db/sql.ts';

/** Tokens and costs of the executions of workflow runs, summed from their records: a deleted record no longer counts. */

export interface UsageRow {
  /** Null in the sum of all steps. */
  readonly step: string | null;
  /** Null in the sum of a step; -1 if the step has no items. */
  readonly item: number | null;
  readonly executions: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: string;
  readonly costUnknown: number;
}

/** An execution of a step or an item; both the failed one and that of the fallback count. */
export interface ExecutionOfStep {
  readonly step: string;
  readonly item: number;
  readonly executionId: string;
}

/** The executions of all steps of these runs, with all items. */
export async function listExecutionsOfSteps(
  db: Db,
  runIds: readonly string[],
): Promise<(ExecutionOfStep & { readonly runId: string })[]> {
  const { rows } = await sql<ExecutionOfStep & { readonly runId: string }>`
    select s.run_id, s.step, s.item, called.execution_id
    from workflow_steps s
      cross join lateral (values (s.execution_id), (s.failed_execution_id)) as called (execution_id)
    where s.run_id = any(${runIds}::uuid[]) and called.execution_id is not null`.execute(db);
  return rows;
}

/** The sum of each of these runs, in the place of its step. */
export async function sumUsageOfRuns(db: Db, runIds: readonly string[]): Promise<UsageRow[]> {
  const executions = await listExecutionsOfSteps(db, runIds);
  return sumUsage(
    db,
    executions.map(({ runId, ...execution }) => ({ ...execution, step: runId })),
    0,
  );
}

/** The sum of all, of each step, and of each item before `itemsShown`. Executions in progress do not count. */
export async function sumUsage(
  db: Db,
  executions: readonly ExecutionOfStep[],
  itemsShown: number,
): Promise<UsageRow[]> {
  const ids = executions.map(({ executionId }) => executionId);
  const [lowest, highest] = idBounds(ids);
  // Each record is looked up by its key, in the one partition of that key.
  const { rows } = await sql<UsageRow>`
    select given.step, given.item, count(*) as executions,
      coalesce(sum(e.input_tokens), 0) as input_tokens, coalesce(sum(e.output_tokens), 0) as output_tokens,
      coalesce(sum(e.cost_usd), 0) as cost_usd, count(*) filter (where not e.cost_known) as cost_unknown
    from unnest(
        ${executions.map(({ step }) => step)}::text[], ${executions.map(({ item }) => item)}::integer[], ${ids}::uuid[])
        as given (step, item, id)
      cross join lateral (
        select e.input_tokens, e.output_tokens, e.cost_usd, e.cost_known from executions e
        where e.id = given.id and e.id between ${lowest}::uuid and ${highest}::uuid and ${aboveFloor}
        offset 0) as e
    group by grouping sets ((given.step, given.item), (given.step), ())
    having grouping(given.item) = 1 or given.item < ${itemsShown}`.execute(db);
  return rows;
}
