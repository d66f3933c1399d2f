import { sql } from 'kysely';
import { everything } from '../../src/core/history.ts';
import { uuid7 } from '../../src/core/id.ts';
import type { ListQuestion } from '../../src/flow/list-executions.ts';
import type { Db } from '../../src/store/db.ts';

/** Histories made of random records, without anybody having run them. */

export interface MadeHistory {
  readonly workspaceId: string;
  readonly agentIds: readonly string[];
  /** The prompt versions, models and keys that occur. */
  readonly versionIds: readonly string[];
  readonly models: readonly string[];
  readonly keyIds: readonly string[];
  /** From the first of these milliseconds to the last. */
  readonly fromMs: number;
  readonly toMs: number;
}

const versionIds = [1, 2].map((n) => `00000000-0000-7000-8000-00000000001${n}`);
const keyIds = [1, 2, 3].map((n) => `00000000-0000-7000-8000-00000000002${n}`);
const models = ['openai/gpt-5.5', 'cueline/echo'];
const dayMs = 86_400_000;

/**
 * Fills the history of two agents, or those given, with so many records: most of them anywhere in 20 days, a fifth in one
 * hour, a fifth in one minute, some at the very edges of buckets; one in a thousand `unauthorized`. Some have not ended.
 */
export async function makeHistory(
  db: Db,
  count: number,
  options: MadeOptions = {},
): Promise<MadeHistory> {
  const made = await makeRecords(db, count, options);
  await countHistory(db);
  return made;
}

interface MadeOptions {
  readonly seed?: number;
  readonly workspaceId?: string;
  readonly agentIds?: string[];
}

/** The records alone, of which nothing is counted yet. */
export async function makeRecords(
  db: Db,
  count: number,
  options: MadeOptions,
): Promise<MadeHistory> {
  const { seed = 0, workspaceId = freshId(), agentIds = [freshId(), freshId()] } = options;
  const fromMs = Date.UTC(2026, 8, 25);
  const toMs = fromMs + 20 * dayMs;
  await sql`select setseed(${(seed % 1_000) / 1_000})`.execute(db);
  await sql`
    with made as materialized (
      select n, random() as place, random() as state, random() as whose, random() as ended, random() as at, random() as key
      from generate_series(1, ${count}::int) as n),
    timed as (
      select *, ${fromMs}::bigint + floor(case
        when place < 0.2 then ${7 * dayMs + 3_600_000} + at * 3600000
        when place < 0.4 then ${11 * dayMs + 61_000_000} + at * 60000
        when place < 0.45 then floor(at * 480) * 3600000
        when place < 0.5 then floor(at * 480) * 3600000 - 1
        else at * ${20 * dayMs} end)::bigint as ms
      from made)
    insert into executions (id, workspace_id, agent_id, prompt_version_id, api_key_id, executed_at, started_at,
      completed_at, cost_usd, input_tokens, output_tokens, latency_ms, attempts, status, source, agent_name,
      prompt_version_label, model, error_code, error, input_variables, settings, output)
    select id, ${workspaceId}, (${agentIds}::uuid[])[1 + (whose < 0.1 and ${agentIds.length > 1})::int],
      (${versionIds}::uuid[])[1 + (n % 7 = 0)::int], case when key < 0.9 then (${keyIds}::uuid[])[1 + floor(key * 3.3)::int] end,
      to_timestamp(ms / 1000.0), case when status in ('success', 'failed') then to_timestamp(ms / 1000.0) end,
      case when status <> 'processing' then to_timestamp((ms + latency) / 1000.0) end,
      round(ended::numeric / 100, 6), 10, 20, case when status in ('success', 'failed') then latency else 0 end, 1,
      status, case when place < 0.05 then 'workflow' when key < 0.9 then 'api' else 'dashboard' end::execution_source,
      'made', 'v1', (${models}::text[])[1 + (n % 3 = 0)::int],
      case status when 'failed' then case when n % 2 = 0 then 'MODEL_TIMEOUT' else 'PROVIDER_ERROR' end
        when 'rate_limited' then 'RATE_LIMIT_EXCEEDED' when 'canceled' then 'CANCELED'
        when 'unauthorized' then 'KEY_NOT_AUTHORIZED' end,
      case when status not in ('success', 'processing') then 'It was made so.' end,
      json_build_object('customer', 'c' || n % 50, 'number', n % 9),
      case when status = 'processing' then '{}'::json end,
      case when status = 'success' then case when n % 11 = 0 then 'High tide at noon' else 'Low water' end end
    from (
      select *, floor(ended * 5000)::int as latency,
        (lpad(to_hex(ms), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid as id,
        case when state < 0.001 then 'unauthorized' when state < 0.01 then 'canceled' when state < 0.03 then 'rate_limited'
          when state < 0.1 then 'failed' when state < 0.15 then 'processing' else 'success' end::execution_status as status
      from timed) as ready`.execute(db);
  await sql`
    insert into run_queue (id, workspace_id, agent_id, tag)
    select id, workspace_id, agent_id, 1 from executions where status = 'processing'`.execute(db);
  return { workspaceId, agentIds, versionIds, models, keyIds, fromMs, toMs };
}

function freshId(): string {
  return uuid7(Date.now());
}

/** Makes the statistics and the breakdown what the records say. */
export async function countHistory(db: Db): Promise<void> {
  await sql`truncate statistics, breakdown`.execute(db);
  const sums = sql.raw(`count(*), count(*), sum(input_tokens), sum(output_tokens), sum(cost_usd),
    coalesce(sum_counts(array_fill(1::bigint, array[1], array[latency_bin(latency_ms) + 1]))
      filter (where started_at is not null), '{}')`);
  await sql`
    insert into statistics
    select agent_id, level, date_trunc(level, id_time(id), 'UTC'), status, source, ${sums}
    from executions cross join unnest(array['minute', 'hour', 'day']) as level
    where status <> 'processing' group by 1, 2, 3, 4, 5`.execute(db);
  await sql`
    insert into breakdown
    select agent_id, level, date_bin(step, id_time(id), 'epoch'), status, source, prompt_version_id, model, api_key_id,
      error_code, ${sums}
    from executions cross join (values ('quarter', interval '15 minutes'), ('day', interval '1 day')) as l (level, step)
    where status <> 'processing' group by 1, 2, 3, 4, 5, 6, 7, 8, 9`.execute(db);
  await sql`analyze`.execute(db);
}

/** The first hundred of all records of these agents. */
export function wholeHistory(agentIds: readonly string[]): ListQuestion {
  return {
    agentIds,
    status: null,
    source: null,
    promptVersionId: null,
    model: null,
    apiKeyId: null,
    errorCode: null,
    contents: null,
    includeProcessing: false,
    range: everything,
    limit: 100,
    offset: 0,
    after: null,
    recordsReadMax: 1_000,
  };
}
