import { setImmediate as othersTurn } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { Span } from '../../core/history/history-range.ts';
import type { Grouping } from '../../core/history/statistics.ts';
import { seenBy, type Viewer } from '../agent/agents.ts';
import type { Db } from '../connection/database.ts';

/** Reading what was added up: by steps of time and by whatever calls are told apart by. */

export interface StatisticsRead {
  /** One agent that the caller sees, or all that it could see, the deleted ones too; of those only some, where named. */
  readonly of:
    | { readonly agentId: string }
    | { readonly viewer: Viewer; readonly among?: readonly string[] | null };
  readonly by: readonly Grouping[];
  /** Where the steps begin, and last where the last one ends. */
  readonly bounds: readonly number[];
  /** The buckets to add up, and of which table. */
  readonly spans: readonly Span[];
  readonly table: 'statistics' | 'breakdown';
  /** How many rows are added up at most, and how many groups answered. */
  readonly rowsMax: number;
  readonly groupsMax: number;
}

/** One group of one step. What the question does not group by is absent. */
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
  /** How many latencies there are in each bin. */
  readonly latency: readonly number[];
}

/**
 * The groups by step and then by what they are grouped by, or what there is too much of. `offset 0` has each agent's rows
 * looked up by themselves: among those of all workspaces they would be few.
 */
export async function readStatistics(
  db: Db,
  question: StatisticsRead,
): Promise<readonly StatisticsGroup[] | 'too many rows' | 'too many groups'> {
  const { spans, bounds, rowsMax, groupsMax } = question;
  const keys = question.by.map((grouping) => keyOf[grouping]);
  const columns = listed(keys.map((key) => sql`${sql.ref(key)},`));
  const { rows } = await sql<StoredGroup>`
    with bounds as (select array(
        select to_timestamp(ms / 1000)
        from unnest(${bounds.slice(0, -1)}::float8[]) with ordinality as b (ms, place) order by place) as starts),
    found as (
      select b.* from unnest(${spans.map((span) => span.level)}::text[],
          ${spans.map((span) => span.fromMs)}::float8[], ${spans.map((span) => span.toMs)}::float8[])
          as s (level, from_ms, to_ms)
        cross join ${agentsOf(question.of)} as a
        cross join lateral (
          select * from ${sql.table(question.table)} r
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
      group by ${listed(keys.map((key) => sql`${sql.ref(key)},`))} step
      limit ${groupsMax + 1})
    select g.* ${listed(question.by.map((grouping) => named[grouping] ?? sql``))}
    from groups g ${listed(question.by.map((grouping) => joins[grouping] ?? sql``))}
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

/** What goes by an identifier is shown with its name. */
const named: Partial<Record<Grouping, RawBuilder<unknown>>> = {
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
  const named = among === null ? sql`` : sql`and a.id = any (${among}::uuid[])`;
  return sql`(select a.id from agents a where ${seenBy(viewer)} ${named})`;
}

function listed(parts: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return parts.length === 0 ? sql`` : sql.join(parts, sql` `);
}

/** Histograms are added up here: four times faster than by an aggregate or as rows of their own, and not in one go. */
async function withLatencies(rows: readonly StoredGroup[]): Promise<StatisticsGroup[]> {
  const groups: StatisticsGroup[] = [];
  let read = 0;
  for (const { rowsRead, latency: texts, ...group } of rows) {
    const latency: number[] = [];
    for (const text of texts.split(';')) {
      addText(latency, text);
      read += text.length;
      if (read < charactersAtOnce) continue;
      read = 0;
      await othersTurn();
    }
    groups.push({ ...group, latency });
  }
  return groups;
}

/** A few milliseconds' worth. */
const charactersAtOnce = 500_000;

/** A histogram in PostgreSQL's own notation, such as `[12:14]={3,NULL,1}` or `{2}`: a subscript is one more than its bin. */
function addText(bins: number[], text: string): void {
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
