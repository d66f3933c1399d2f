import { sql } from 'kysely';
import type { Db } from '../src/store/connection/database.ts';

/** Copies a queued execution this many times, with consecutive queue positions. */
export async function addBacklog(db: Db, executionId: string, count: number): Promise<void> {
  await sql`
    with copies as materialized (
      select (left(e.id::text, 13) || right(gen_random_uuid()::text, 23))::uuid as id, n, e.id as original
      from executions e cross join generate_series(1, ${count}::int) as n
      where e.id = ${executionId}),
    recorded as (
      insert into executions (id, workspace_id, agent_id, prompt_version_id, api_key_id, executed_by, executed_at,
        status, source, agent_name, prompt_version_label, model, temperature, input_variables, settings)
      select copies.id, workspace_id, agent_id, prompt_version_id, api_key_id, executed_by, executed_at, status, source,
        agent_name, prompt_version_label, model, temperature, input_variables, settings
      from copies join executions e on e.id = copies.original),
    counted as (
      update limits set month_used = month_used + ${count}
      where subject = (select workspace_id from executions where id = ${executionId}))
    insert into execution_queue (id, workspace_id, agent_id, tag, has_slot)
    select copies.id, workspace_id, agent_id, tag + n, has_slot
    from copies join execution_queue q on q.id = copies.original`.execute(db);
  // Autovacuum would analyze them later.
  await sql`analyze execution_queue, executions`.execute(db);
}

/** Changes the model of all queued executions of the agent. */
export async function redirectBacklog(db: Db, agentId: string, model: string): Promise<void> {
  await sql`
    update executions e set model = ${model}
    from execution_queue q where q.id = e.id and q.agent_id = ${agentId} and q.worker is null`.execute(
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
    select count(*) as n from execution_queue q join executions e on e.id = q.id
    where q.worker is not null and e.model <> ${model}`.execute(db);
  return rows[0]?.n ?? 0;
}
