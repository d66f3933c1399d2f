import type { StepAnswer } from '../../../core/workflow/rerun.ts';
import type { Db } from '../../../db/database.ts';
import { aboveFloor } from '../../../db/id-bounds.ts';
import { sql } from '../../../db/sql.ts';
import { transientOutputs } from '../../../engine/read/executions.ts';

/**
 * What the executions of these steps and of their items have answered, by step and item. Null beyond `charsMax` together, so
 * that nothing too long is read.
 */
export async function readAnswers(
  db: Db,
  { runId, steps, charsMax }: { runId: string; steps: readonly string[]; charsMax: number },
): Promise<StepAnswer[] | null> {
  const { rows } = await sql<StepAnswer & { fits: boolean }>`
    select step, item, status, items_count, chars <= ${charsMax} as fits, case when chars <= ${charsMax} then output end as output,
      case when chars <= ${charsMax} then output_json end as output_json
    from (
      select s.step, s.item, s.status, s.items_count, answer.output, answer.output_json,
        sum(coalesce(length(coalesce(answer.output_json, answer.output)), 0)) over () as chars
      from workflow_steps s left join lateral (
        select coalesce(e.output, t.output) as output, coalesce(e.output_json, t.output_json)::text as output_json
        from executions e ${transientOutputs}
        where e.id = s.execution_id and ${aboveFloor}
        offset 0) as answer on true
      where s.run_id = ${runId} and s.step = any(${steps}::text[])) as answered
    order by step, item`.execute(db);
  return rows.every(({ fits }) => fits) ? rows : null;
}
