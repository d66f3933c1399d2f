import { providerTextPattern } from '../../../core/failure.ts';
import { transientOutputMs } from '../../../core/history/retention.ts';
import { statementTime } from '../../../db/clock.ts';
import type { Db } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';
import { overdueBefore } from './retention-statements.ts';

/**
 * Removes the bodies of records (variables, prompts, output) before the records themselves. The caller's address and a
 * provider's own error text go with them.
 */

/** SQL: the column `error` without a provider's own text. */
const errorWithoutQuote = sql`regexp_replace(error, ${sql.lit(providerTextPattern)}, '\\1.')`;

/**
 * Removes the overdue bodies of up to `limit` records of an agent. Returns how many records it passed. The position is
 * stored, and never passes an execution that has not ended, because its record is still to be inserted. One snapshot shows
 * both the queue and the records, so no execution is missed.
 */
export async function removeBodies(
  db: Db,
  { agentId, limit }: { agentId: string; limit: number },
): Promise<number> {
  const { rows } = await sql<{ passed: number }>`
    with bound as materialized (
      select greatest((select up_to from bodies_removed where agent_id = ${agentId}),
          (select id_floor(at) from history_floor)) as from_id,
        case when own.before is not null then
          least(own.before, (select id from execution_queue where agent_id = ${agentId} order by id limit 1)) end as before
      from (
        select ${overdueBefore('bodies_days')} as before
        from agents a join workspaces w on w.id = a.workspace_id where a.id = ${agentId}) as own),
    picked as materialized (
      select id from executions
      where agent_id = ${agentId}
        and id >= (select from_id from bound) and id < (select before from bound)
      order by id limit ${limit}),
    removed as (
      update executions set input_variables = null, files = null, file_data = null, system_prompt = null, user_prompt = null, output = null,
        reasoning_text = null, assistant_message = null, refusal_text = null, output_json = null, partial_text = null, warnings = null, request = null, tool_calls = null, ip_address = null, user_agent = null, error = ${errorWithoutQuote}
      where id = any (array(select id from picked))
        and (input_variables is not null or files is not null or system_prompt is not null or user_prompt is not null
          or output is not null or reasoning_text is not null or assistant_message is not null or refusal_text is not null or output_json is not null or partial_text is not null or warnings is not null or request is not null or tool_calls is not null or ip_address is not null or user_agent is not null
          or error <> ${errorWithoutQuote})
      returning id),
    steps as (
      update execution_steps set message = null, arguments = null, used_arguments = null, result = null, result_json = null
      where execution_id = any (array(select id from removed))),
    unsearchable as (insert into search_changes (id) select id from removed),
    recorded as (
      insert into bodies_removed as b (agent_id, up_to)
      select ${agentId}, case when (select count(*) from picked) < ${limit} then before
        else (select id from picked order by id desc limit 1) end
      from bound where exists (select from picked)
      on conflict (agent_id) do update set up_to = greatest(b.up_to, excluded.up_to))
    select count(*) as passed from picked`.execute(db);
  return rows[0]?.passed ?? 0;
}

/** Deletes up to `limit` expired outputs of agents that store no bodies. Returns how many. */
export async function deleteTransientOutputs(db: Db, limit: number): Promise<number> {
  const { rowCount } = await sql`
    delete from transient_outputs where execution_id = any (array(
      select execution_id from transient_outputs
      where ended_at <= ${statementTime} - ${transientOutputMs} * interval '1 millisecond'
      order by ended_at limit ${limit} for update skip locked))`.execute(db);
  return rowCount;
}
