import type { ChosenItems, StepAnswer } from '../../../core/workflow/rerun.ts';
import type { Db } from '../../../db/database.ts';
import { aboveFloor } from '../../../db/id-bounds.ts';
import { sql } from '../../../db/sql.ts';
import { transientOutputs } from '../../../engine/read/executions.ts';

/** The items that a run runs again; null if it was started for all. */
export async function findChosenItems(db: Db, runId: string): Promise<ChosenItems | null> {
  const { rows } = await sql<ChosenItems>`
    select step, items from workflow_reruns where run_id = ${runId}`.execute(db);
  return rows[0] ?? null;
}

/** A run of items may itself be one of items of another run, and so on. */
const rerunsMax = 100;

/**
 * SQL: step `s` of a successful run has taken its output over. Every other step that succeeded has an execution, the output of
 * a fallback, or a list.
 */
const isTakenOver = sql`s.status = 'success' and s.execution_id is null and not s.fallback and s.items_count is null`;

/**
 * What the executions of these steps and of their items have answered, by step and item, each from the run that executed the
 * step; nothing of a step whose run is gone. Null beyond `charsMax` together, so that nothing too long is read.
 */
export async function readAnswers(
  db: Db,
  { runId, steps, charsMax }: { runId: string; steps: readonly string[]; charsMax: number },
): Promise<StepAnswer[] | null> {
  const { rows } = await sql<StepAnswer & { fits: boolean }>`
    with recursive runs (id, reruns) as (
      select ${runId}::uuid, 0
      union all
      select w.rerun_of, runs.reruns + 1 from runs join workflow_reruns w on w.run_id = runs.id where runs.reruns < ${rerunsMax}),
    executed as (
      select distinct on (s.step) s.run_id, s.step
      from runs join workflow_steps s on s.run_id = runs.id
      where s.step = any(${steps}::text[]) and s.item < 0 and not (${isTakenOver})
      order by s.step, runs.reruns)
    select step, item, status, items_count, chars <= ${charsMax} as fits, case when chars <= ${charsMax} then output end as output,
      case when chars <= ${charsMax} then output_json end as output_json
    from (
      select s.step, s.item, s.status, s.items_count, answer.output, answer.output_json,
        sum(coalesce(length(coalesce(answer.output_json, answer.output)), 0)) over () as chars
      from executed join workflow_steps s on s.run_id = executed.run_id and s.step = executed.step
      left join lateral (
        select coalesce(e.output, t.output) as output, coalesce(e.output_json, t.output_json)::text as output_json
        from executions e ${transientOutputs}
        where e.id = s.execution_id and ${aboveFloor}
        offset 0) as answer on true) as answered
    order by step, item`.execute(db);
  return rows.every(({ fits }) => fits) ? rows : null;
}
