import type { Db } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';

/** Copies a queued execution this many times, with consecutive queue positions. */
export async function addBacklog(db: Db, executionId: string, count: number): Promise<void> {
  await sql`
    with original as materialized (select * from execution_queue where id = ${executionId}),
    counted as (
      update limits set month_used = month_used + ${count}
      where subject = (select workspace_id from original))
    insert into execution_queue (id, workspace_id, agent_id, prompt_version_id, api_key_id, executed_by, executed_at,
      source, agent_name, prompt_version_label, model, temperature, input_variables, settings, tag, has_slot)
    select (left(id::text, 13) || right(gen_random_uuid()::text, 23))::uuid, workspace_id, agent_id, prompt_version_id,
      api_key_id, executed_by, executed_at, source, agent_name, prompt_version_label, model, temperature,
      input_variables, settings, tag + n, has_slot
    from original cross join generate_series(1, ${count}::int) as n`.execute(db);
  // Autovacuum would analyze them later.
  await sql`analyze execution_queue`.execute(db);
}

/** Changes the model of all queued executions of the agent. */
export async function redirectBacklog(db: Db, agentId: string, model: string): Promise<void> {
  await sql`
    update execution_queue set model = ${model} where agent_id = ${agentId} and worker is null`.execute(
    db,
  );
}

/** The number of live executions of the agent. */
export async function countQueued(db: Db, agentId: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from execution_queue where agent_id = ${agentId}`.execute(db);
  return rows[0]?.n ?? 0;
}

/** The number of claimed executions with another model. */
export async function countClaimedExcept(db: Db, model: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from execution_queue where worker is not null and model <> ${model}`.execute(
    db,
  );
  return rows[0]?.n ?? 0;
}
