import type { ExecutionStatus } from '../src/core/execution/execution.ts';
import { uuid7 } from '../src/core/id.ts';
import type { Db } from '../src/db/database.ts';
import { type Sql, sql } from '../src/db/sql.ts';

/** Records of any age and live executions, inserted into the tables. */

export interface RecordOptions {
  /** Stored ids. */
  readonly workspaceId: string;
  readonly agentId: string;
  readonly atMs: number;
  /** `success` by default; `processing` adds a queue row instead of a record. */
  readonly status?: ExecutionStatus;
  /** JSON text. */
  readonly variables?: string;
}

export const dayMs = 86_400_000;

/** Returns the stored ids in the order given. Does not add statistics: `countHistory` does. */
export async function putRecords(db: Db, records: readonly RecordOptions[]): Promise<string[]> {
  const ids = records.map(({ atMs }) => uuid7(atMs));
  await insertRecords(
    db,
    sql`
      select *, workspace_id as prompt_version_id, null::uuid as api_key_id, status = 'success' as ran, 30 as latency,
        0.5 as cost_usd, 'api'::execution_source as source, 'cueline/echo' as model,
        case when status not in ('success', 'processing') then 'CANCELED' end as error_code,
        'system' as system_prompt, 'user' as user_prompt, case when status = 'success' then 'output' end as output
      from unnest(${ids}::uuid[], ${records.map((one) => one.atMs)}::float8[],
        ${records.map((one) => one.workspaceId)}::uuid[], ${records.map((one) => one.agentId)}::uuid[],
        ${records.map((one) => one.status ?? 'success')}::execution_status[],
        ${records.map((one) => one.variables ?? '{"customer":"c1"}')}::text[])
        as input (id, ms, workspace_id, agent_id, status, variables)`,
  );
  return ids;
}

/** Inserts many records of one millisecond without variables, and without statistics. */
export async function addPlainRecords(
  db: Db,
  count: number,
  { workspaceId, agentId, atMs }: Pick<RecordOptions, 'workspaceId' | 'agentId' | 'atMs'>,
): Promise<void> {
  await insertRecords(
    db,
    sql`
      select uuidv7(to_timestamp(${atMs} / 1000.0) - clock_timestamp()) as id, ${atMs}::float8 as ms,
        ${workspaceId}::uuid as workspace_id, ${agentId}::uuid as agent_id, ${agentId}::uuid as prompt_version_id,
        null::uuid as api_key_id, 'success'::execution_status as status, true as ran, 1 as latency, 0 as cost_usd,
        'api'::execution_source as source, 'cueline/echo' as model, null as error_code, '{}' as variables,
        null as system_prompt, null as user_prompt, null as output
      from generate_series(1, ${count}::int)`,
  );
}

/** Inserts the selected records, and queue rows for those that have not ended. */
export async function insertRecords(db: Db, selected: Sql): Promise<void> {
  await sql`
    with selected as materialized (${selected}),
    queued as (
      insert into execution_queue (id, workspace_id, agent_id, prompt_version_id, api_key_id, executed_at, started_at,
        source, agent_name, prompt_version_label, model, input_variables, settings, tag)
      select id, workspace_id, agent_id, prompt_version_id, api_key_id, to_timestamp(ms / 1000.0),
        case when ran then to_timestamp(ms / 1000.0) end, source, 'made', 'v1', model, variables::json, '{}', 1
      from selected where status = 'processing'),
    changed as (insert into search_changes (id) select id from selected where status <> 'processing')
    insert into executions (id, workspace_id, agent_id, prompt_version_id, api_key_id, executed_at, started_at,
      completed_at, cost_usd, input_tokens, output_tokens, latency_ms, attempts, status, source, agent_name,
      prompt_version_label, model, error_code, error, input_variables, system_prompt, user_prompt, output)
    select id, workspace_id, agent_id, prompt_version_id, api_key_id, to_timestamp(ms / 1000.0),
      case when ran then to_timestamp(ms / 1000.0) end, to_timestamp((ms + latency) / 1000.0),
      cost_usd, 10, 20, case when ran then latency else 0 end, 1, status, source, 'made', 'v1', model, error_code,
      case when error_code is not null then 'Made by a test.' end, variables::json, system_prompt, user_prompt, output
    from selected where status <> 'processing'`.execute(db);
}

/** Queues executions. Selects `id`, `workspace_id`, `agent_id` and `tag`, and optionally further columns by name. */
export async function queueExecutions(
  db: Db,
  selected: Sql,
  further: readonly string[] = [],
): Promise<void> {
  const names = sql.raw(['id', 'workspace_id', 'agent_id', 'tag', ...further].join(', '));
  await sql`
    insert into execution_queue (${names}, prompt_version_id, executed_at, source, agent_name, prompt_version_label,
      model, input_variables, settings)
    select ${names}, agent_id, clock_timestamp(), 'api', 'queued', 'v1', 'cueline/echo', '{}', '{}'
    from (${selected}) as selected`.execute(db);
}

/** Ends a queued execution as if a worker had ended it, without statistics. */
export async function endQueued(db: Db, id: string, output: string): Promise<void> {
  await sql`
    with ended as (delete from execution_queue where id = ${id} returning *),
    changed as (insert into search_changes (id) select id from ended)
    insert into executions (id, workspace_id, agent_id, prompt_version_id, api_key_id, executed_at, started_at,
      completed_at, attempts, status, source, agent_name, prompt_version_label, model, input_variables, ip_address,
      user_agent, output)
    select id, workspace_id, agent_id, prompt_version_id, api_key_id, executed_at, started_at, clock_timestamp(), 1,
      'success', source, agent_name, prompt_version_label, model, input_variables, ip_address, user_agent, ${output}
    from ended`.execute(db);
}

export async function addRecords(db: Db, records: readonly RecordOptions[]): Promise<string[]> {
  const ids = await putRecords(db, records);
  await countHistory(db);
  return ids;
}

/** The ids of these records that still exist. */
export async function remainingIds(db: Db, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from all_executions where id = any (${ids}::uuid[])`.execute(db);
  const existing = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => existing.has(id));
}

/** Creates the partition for the month of this time; returns the first moment of the month. */
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

const keys = {
  statistics: 'agent_id, level, bucket, status, source',
  breakdown:
    'agent_id, level, bucket, status, source, prompt_version_id, model, api_key_id, error_code',
} as const;

/** Selects the statistics that follow from the records. */
function counted(table: keyof typeof keys): string {
  return `
    select ${keys[table]}, count(*) as occurred, count(*) as recorded, sum(input_tokens), sum(output_tokens), sum(cost_usd),
      count(*) filter (where not cost_known),
      coalesce(sum_counts(array_fill(1::bigint, array[1], array[latency_bin(latency_ms) + 1]))
        filter (where started_at is not null), '{}')
    from executions cross join lateral (values
      ('statistics', 'minute', date_trunc('minute', id_time(id), 'UTC')),
      ('statistics', 'hour', date_trunc('hour', id_time(id), 'UTC')),
      ('statistics', 'day', date_trunc('day', id_time(id), 'UTC')),
      ('breakdown', 'quarter', date_bin('15 minutes', id_time(id), 'epoch')),
      ('breakdown', 'day', date_trunc('day', id_time(id), 'UTC'))) as at (target, level, bucket)
    where target = '${table}'
    group by ${keys[table]}`;
}

/** Recomputes statistics and breakdown from the records. */
export async function countHistory(db: Db): Promise<void> {
  await sql`truncate statistics, breakdown`.execute(db);
  for (const table of ['statistics', 'breakdown'] as const) {
    const columns = `${keys[table]}, occurred, recorded, input_tokens, output_tokens, cost_usd, cost_unknown, latency`;
    await sql.raw(`insert into ${table} (${columns}) ${counted(table)}`).execute(db);
  }
  await sql`analyze`.execute(db);
}

/**
 * Buckets whose `recorded` differs from the number of remaining records, in either table. Rolled-up minutes do not count.
 */
export async function miscounted(db: Db): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const table of ['statistics', 'breakdown'] as const) {
    const above = 'recorded <> 0 and bucket >= (select at from history_floor)';
    const stored = `select ${keys[table]}, recorded from ${table} where ${above}`;
    const expected = `select ${keys[table]}, recorded from (${counted(table)}) as counted where ${above}`;
    const { rows } = await sql
      .raw(`
        with stored as (${stored}), counted as (${expected})
        select 'stored' as what, * from (select * from stored except select * from counted) as more
        union all
        select 'counted', * from (select * from counted except select * from stored) as less
        where level <> 'minute' or exists (
          select from statistics s where (s.agent_id, s.level, s.bucket, s.status, s.source)
            = (less.agent_id, less.level, less.bucket, less.status, less.source))`)
      .execute(db);
    found.push(...rows);
  }
  return found;
}
