import { everything } from '../src/core/history/history-range.ts';
import type { Db } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import type { ListRequest } from '../src/features/history/verbs/history-page.ts';
import { freshId } from './fresh-id.ts';
import { countHistory, insertRecords } from './records.ts';

/** Random histories, inserted without executing anything. */

export interface RandomHistory {
  readonly workspaceId: string;
  readonly agentIds: readonly string[];
  /** The prompt versions, models and keys in the records. */
  readonly versionIds: readonly string[];
  readonly models: readonly string[];
  readonly keyIds: readonly string[];
  /** The range of the records, inclusive. */
  readonly fromMs: number;
  readonly toMs: number;
}

const versionIds = [1, 2].map((n) => `00000000-0000-7000-8000-00000000001${n}`);
const keyIds = [1, 2, 3].map((n) => `00000000-0000-7000-8000-00000000002${n}`);
const models = ['openai/gpt-5.5', 'cueline/echo'];
const dayMs = 86_400_000;

/**
 * Fills the history of two agents, or of those given, with this many records: most of them spread over 20 days, a fifth
 * in one hour, a fifth in one minute, some at bucket boundaries, one in a thousand `unauthorized`. Some have not ended.
 */
export async function makeHistory(
  db: Db,
  count: number,
  options: HistoryOptions = {},
): Promise<RandomHistory> {
  const created = await makeRecords(db, count, options);
  await countHistory(db);
  return created;
}

interface HistoryOptions {
  readonly seed?: number;
  readonly workspaceId?: string;
  readonly agentIds?: string[];
}

/** Only the records, without statistics. */
export async function makeRecords(
  db: Db,
  count: number,
  options: HistoryOptions,
): Promise<RandomHistory> {
  const { seed = 0, workspaceId = freshId(), agentIds = [freshId(), freshId()] } = options;
  const fromMs = Date.UTC(2026, 8, 25);
  const toMs = fromMs + 20 * dayMs;
  await sql`select setseed(${(seed % 1_000) / 1_000})`.execute(db);
  await insertRecords(
    db,
    sql`
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
    select id, ms, ${workspaceId}::uuid as workspace_id,
      (${agentIds}::uuid[])[1 + (whose < 0.1 and ${agentIds.length > 1})::int] as agent_id,
      (${versionIds}::uuid[])[1 + (n % 7 = 0)::int] as prompt_version_id,
      case when key < 0.9 then (${keyIds}::uuid[])[1 + floor(key * 3.3)::int] end as api_key_id,
      status in ('success', 'failed') as ran, latency, round(ended::numeric / 100, 6) as cost_usd, status,
      case when place < 0.05 then 'workflow' when n % 13 = 0 then 'dashboard_playground'
        when key < 0.9 then 'api' else 'dashboard' end::execution_source as source,
      (${models}::text[])[1 + (n % 3 = 0)::int] as model,
      case status when 'failed' then case when n % 2 = 0 then 'MODEL_TIMEOUT' else 'PROVIDER_ERROR' end
        when 'rate_limited' then 'RATE_LIMIT_EXCEEDED' when 'canceled' then 'CANCELED'
        when 'unauthorized' then 'KEY_NOT_AUTHORIZED' end as error_code,
      json_build_object('customer', 'c' || n % 50, 'number', n % 9) as variables,
      null as system_prompt, null as user_prompt,
      case when status = 'success' then case when n % 11 = 0 then 'High tide at noon' else 'Low water' end end as output
    from (
      select *, floor(ended * 5000)::int as latency,
        (lpad(to_hex(ms), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid as id,
        case when state < 0.001 then 'unauthorized' when state < 0.01 then 'canceled' when state < 0.03 then 'rate_limited'
          when state < 0.1 then 'failed' when state < 0.15 then 'processing' else 'success' end::execution_status as status
      from timed) as ready`,
  );
  return { workspaceId, agentIds, versionIds, models, keyIds, fromMs, toMs };
}

/** The first hundred records of these agents. */
export function firstHundred(agentIds: readonly string[]): ListRequest {
  return {
    agentIds,
    status: null,
    source: null,
    playground: null,
    promptVersionId: null,
    model: null,
    apiKeyId: null,
    errorCode: null,
    ...{ batchId: null, user: null, session: null, executionId: null, rerunOf: null, label: null },
    contents: null,
    includeProcessing: false,
    range: everything,
    limit: 100,
    offset: 0,
    after: null,
  };
}
