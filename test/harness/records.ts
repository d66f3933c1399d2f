import { sql } from 'kysely';
import type { ExecutionStatus } from '../../src/core/execution.ts';
import { uuid7 } from '../../src/core/id.ts';
import type { Db } from '../../src/store/db.ts';
import { countHistory } from './history.ts';

/** Records of some age, put straight into the tables, with the statistics that belong to them. */

export interface RecordOptions {
  /** Stored ids. */
  readonly workspaceId: string;
  readonly agentId: string;
  readonly atMs: number;
  /** `success` unless given; `processing` stands in the queue as well. */
  readonly status?: ExecutionStatus;
  /** JSON text. */
  readonly variables?: string;
}

export const dayMs = 86_400_000;

/** Answers the stored ids, in the order given. Without their statistics: `countHistory` makes those. */
export async function putRecords(db: Db, records: readonly RecordOptions[]): Promise<string[]> {
  const ids = records.map(({ atMs }) => uuid7(atMs));
  await sql`
    with made as (
      insert into executions (id, workspace_id, agent_id, prompt_version_id, executed_at, started_at, completed_at, status,
        source, agent_name, prompt_version_label, model, error_code, error, input_tokens, output_tokens, latency_ms,
        cost_usd, input_variables, settings, system_prompt, user_prompt, output)
      select id, workspace_id, agent_id, workspace_id, at, case when ran then at end,
        case when status <> 'processing' then at end, status, 'api', 'A', 'v1', 'cueline/echo',
        case when not ran and status <> 'processing' then 'CANCELED' end,
        case when not ran and status <> 'processing' then 'Canceled.' end,
        10, 20, 30, 0.5, variables::json, case when status = 'processing' then '{}'::json end,
        'system', 'user', case when ran then 'output' end
      from (
        select *, status = 'success' as ran, id_time(id) as at
        from unnest(${ids}::uuid[], ${records.map((one) => one.workspaceId)}::uuid[],
          ${records.map((one) => one.agentId)}::uuid[],
          ${records.map((one) => one.status ?? 'success')}::execution_status[],
          ${records.map((one) => one.variables ?? '{"customer":"c1"}')}::text[])
          as given (id, workspace_id, agent_id, status, variables)) as ready
      returning id, workspace_id, agent_id, status)
    insert into run_queue (id, workspace_id, agent_id, tag)
    select id, workspace_id, agent_id, 1 from made where status = 'processing'`.execute(db);
  return ids;
}

export async function addRecords(db: Db, records: readonly RecordOptions[]): Promise<string[]> {
  const ids = await putRecords(db, records);
  await countHistory(db);
  return ids;
}

/** Which of these records are left. */
export async function left(db: Db, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from executions where id = any (${ids}::uuid[])`.execute(db);
  const there = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => there.has(id));
}

/** A partition for the month that this time is in; records must come after it. Answers the month's first moment. */
export async function addMonth(db: Db, atMs: number): Promise<{ name: string; startMs: number }> {
  const at = new Date(atMs);
  const startMs = Date.UTC(at.getUTCFullYear(), at.getUTCMonth());
  const endMs = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1);
  const name = `executions_${new Date(startMs).toISOString().slice(0, 7).replace('-', '_')}`;
  const bound = (ms: number) => `id_floor('${new Date(ms).toISOString()}')`;
  await sql`
    create table if not exists ${sql.table(name)} partition of executions
    for values from (${sql.raw(bound(startMs))}) to (${sql.raw(bound(endMs))})`.execute(db);
  return { name, startMs };
}

/** Buckets whose `recorded` is not the number of records that are left, in either table. Folded minutes do not count. */
export async function miscounted(db: Db): Promise<unknown[]> {
  const { rows } = await sql`
    with summed as (
      select e.agent_id, l.level, date_trunc(l.level, id_time(e.id), 'UTC') as bucket, e.status, e.source, count(*) as n
      from executions e cross join (values ('minute'), ('hour'), ('day')) as l (level)
      where e.status <> 'processing' and e.id >= (select id_floor(at) from history_floor)
      group by 1, 2, 3, 4, 5),
    broken as (
      select e.agent_id, l.level, date_bin(l.step, id_time(e.id), 'epoch') as bucket, e.status, e.source,
        e.prompt_version_id, e.model, coalesce(e.api_key_id::text, '') as key, coalesce(e.error_code, '') as error,
        count(*) as n
      from executions e
        cross join (values ('quarter', interval '15 minutes'), ('day', interval '1 day')) as l (level, step)
      where e.status <> 'processing' and e.id >= (select id_floor(at) from history_floor)
      group by 1, 2, 3, 4, 5, 6, 7, 8, 9),
    kept as (
      select *, coalesce(api_key_id::text, '') as key, coalesce(error_code, '') as error from breakdown
      where bucket >= (select at from history_floor))
    select 'statistics' as what, agent_id, level, bucket, status::text, source::text, s.recorded, r.n
    from (select * from statistics where bucket >= (select at from history_floor)) s
      full join summed r using (agent_id, level, bucket, status, source)
    where coalesce(s.recorded, 0) <> coalesce(r.n, 0) and not (level = 'minute' and s.recorded is null)
    union all
    select 'breakdown', agent_id, level, bucket, status::text, source::text, b.recorded, r.n
    from kept b full join broken r
      using (agent_id, level, bucket, status, source, prompt_version_id, model, key, error)
    where coalesce(b.recorded, 0) <> coalesce(r.n, 0)`.execute(db);
  return rows;
}
