import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { Span } from '../../core/history/history-range.ts';
import type { Grouping } from '../../core/history/statistics.ts';
import { type Viewer, visibleIncludingDeleted } from '../agent/agents.ts';
import type { Db } from '../connection/database.ts';

/** Reads the statistics by time step and by group. */

export interface StatisticsRead {
  /** One agent that the caller sees, or all that it sees including deleted ones, optionally restricted to some. */
  readonly of:
    | { readonly agentId: string }
    | { readonly viewer: Viewer; readonly among?: readonly string[] | null };
  readonly by: readonly Grouping[];
  /** The beginning of each step, and the end of the last one. */
  readonly bounds: readonly number[];
  /** The buckets to add up, and their table. */
  readonly spans: readonly Span[];
  readonly table: 'statistics' | 'breakdown';
  /** The maximum number of rows to add up and of groups to return. */
  readonly rowsMax: number;
  readonly groupsMax: number;
}

/** One group of one step. Fields that the request does not group by are absent. */
export interface StatisticsGroup {
  /** The number of the step, from 0. */
  readonly step: number;
  readonly agentId?: string;
  readonly agentName?: string | null;
  readonly status?: string;
  readonly source?: string;
  readonly promptVersionId?: string;
  readonly promptVersionLabel?: string | null;
  readonly model?: string;
  readonly apiKeyId?: string | null;
  readonly errorCode?: string | null;
  readonly occurred: number;
  readonly recorded: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: string;
  readonly costUnknown: number;
  /** The number of latencies per bin. */
  readonly latency: readonly number[];
}

/**
 * The groups by step and key, or which limit the request exceeds. `offset 0` makes PostgreSQL look up the rows of each agent
 * separately; otherwise it may scan those of all workspaces.
 */
export async function readStatistics(
  db: Db,
  request: StatisticsRead,
): Promise<readonly StatisticsGroup[] | 'too many rows' | 'too many groups'> {
  const { spans, bounds, rowsMax, groupsMax } = request;
  const keys = request.by.map((grouping) => keyOf[grouping]);
  const columns = joinSql(keys.map((key) => sql`${sql.ref(key)},`));
  const { rows } = await sql<StoredGroup>`
    with bounds as (select array(
        select to_timestamp(ms / 1000)
        from unnest(${bounds.slice(0, -1)}::float8[]) with ordinality as b (ms, ordinal) order by ordinal) as starts),
    found as (
      select b.* from unnest(${spans.map((span) => span.level)}::text[],
          ${spans.map((span) => span.fromMs)}::float8[], ${spans.map((span) => span.toMs)}::float8[])
          as s (level, from_ms, to_ms)
        cross join ${agentsOf(request.of)} as a
        cross join lateral (
          select * from ${sql.table(request.table)} r
          where r.agent_id = a.id and r.level = s.level
            and r.bucket >= to_timestamp(s.from_ms / 1000) and r.bucket < to_timestamp(s.to_ms / 1000)
          offset 0) as b
      limit ${rowsMax + 1}),
    groups as (
      select width_bucket(bucket, (select starts from bounds)) - 1 as step, ${columns}
        sum(occurred)::bigint as occurred,
        coalesce(sum(recorded) filter (where bucket >= (select at from history_floor)), 0)::bigint as recorded,
        coalesce(sum(occurred) filter (where status = 'success'), 0)::bigint as succeeded,
        coalesce(sum(occurred) filter (where status = 'failed'), 0)::bigint as failed,
        sum(input_tokens)::bigint as input_tokens, sum(output_tokens)::bigint as output_tokens,
        sum(cost_usd) as cost_usd, sum(cost_unknown)::bigint as cost_unknown,
        string_agg(latency::text, ';') as latency, count(*) as rows_read
      from found
      group by ${joinSql(keys.map((key) => sql`${sql.ref(key)},`))} step
      limit ${groupsMax + 1})
    select g.* ${joinSql(request.by.map((grouping) => nameOf[grouping] ?? sql``))}
    from groups g ${joinSql(request.by.map((grouping) => joins[grouping] ?? sql``))}
    order by ${sql.join([sql`step`, ...keys.map((key) => sql`${sql.ref(`g.${key}`)}::text collate "C"`)])}`.execute(
    db,
  );
  if (rows.length > groupsMax) return 'too many groups';
  if (rows.reduce((sum, row) => sum + row.rowsRead, 0) > rowsMax) return 'too many rows';
  return withLatencies(rows);
}

interface StoredGroup extends Omit<StatisticsGroup, 'latency'> {
  readonly latency: string;
  readonly rowsRead: number;
}

const keyOf: Record<Grouping, string> = {
  agent: 'agent_id',
  status: 'status',
  source: 'source',
  version: 'prompt_version_id',
  model: 'model',
  key: 'api_key_id',
  errorCode: 'error_code',
};

/** Grouping by an id also returns its name. */
const nameOf: Partial<Record<Grouping, RawBuilder<unknown>>> = {
  agent: sql`, agents.name as agent_name`,
  version: sql`, prompt_versions.label as prompt_version_label`,
};
const joins: Partial<Record<Grouping, RawBuilder<unknown>>> = {
  agent: sql`left join agents on agents.id = g.agent_id`,
  version: sql`left join prompt_versions on prompt_versions.id = g.prompt_version_id`,
};

function agentsOf(of: StatisticsRead['of']): RawBuilder<unknown> {
  if ('agentId' in of) return sql`(select ${of.agentId}::uuid as id)`;
  const { viewer, among = null } = of;
  const nameOf = among === null ? sql`` : sql`and a.id = any (${among}::uuid[])`;
  return sql`(select a.id from agents a where ${visibleIncludingDeleted(viewer)} ${nameOf})`;
}

function joinSql(parts: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return parts.length === 0 ? sql`` : sql.join(parts, sql` `);
}

/** Adds up histograms here, four times faster than SQL does, and yields to other work in between. */
async function withLatencies(rows: readonly StoredGroup[]): Promise<StatisticsGroup[]> {
  const groups: StatisticsGroup[] = [];
  let read = 0;
  for (const { rowsRead, latency: texts, ...group } of rows) {
    const latency: number[] = [];
    for (const text of texts.split(';')) {
      addHistogram(latency, text);
      read += text.length;
      if (read < charactersPerSlice) continue;
      read = 0;
      await yieldToEventLoop();
    }
    groups.push({ ...group, latency });
  }
  return groups;
}

/** A few milliseconds of work. */
const charactersPerSlice = 500_000;

/** Adds a histogram in array syntax, such as `[12:14]={3,NULL,1}` or `{2}`. A subscript is one more than its bin. */
function addHistogram(bins: number[], text: string): void {
  let bin = text.startsWith('[') ? Number.parseInt(text.slice(1), 10) - 1 : 0;
  let n = 0;
  for (let at = text.indexOf('{') + 1; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character >= zero && character <= nine) n = n * 10 + character - zero;
    else if (character === comma || character === end) {
      while (bins.length <= bin) bins.push(0);
      bins[bin] = (bins[bin] ?? 0) + n;
      bin++;
      n = 0;
    }
  }
}

const [zero, nine, comma, end] = [48, 57, 44, 125];
