import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { addDecimals } from '../../../core/decimal.ts';
import { idsOf, type Span } from '../../../core/history/history-range.ts';
import type { Grouping, LabelGrouping } from '../../../core/history/statistics.ts';
import type { Db } from '../../../db/database.ts';
import { aboveFloor } from '../../../db/id-bounds.ts';
import { type Sql, sql } from '../../../db/sql.ts';
import { type Viewer, visibleIncludingDeleted } from '../../people/statements/visible-agents.ts';
import { hasSource, inRange } from './history-filter.ts';

/** Reads the statistics by interval and by group. */

export interface StatisticsRead {
  /** One agent that the caller sees, or all that it sees including deleted ones, optionally restricted to some. */
  readonly of:
    | { readonly agentId: string }
    | { readonly viewer: Viewer; readonly among?: readonly string[] | null };
  /** Whether the executions are marked as those of a playground; null for both. */
  readonly playground: boolean | null;
  readonly only?: StatisticsFilter;
  readonly by: readonly Grouping[];
  /** The label to group by, and how many of its values; the rest forms one group. Null without one. */
  readonly byLabel: { readonly grouping: LabelGrouping; readonly valuesMax: number } | null;
  /** The beginning of each interval, and the end of the last one. */
  readonly bounds: readonly number[];
  /** The buckets to add up, and their table. */
  readonly spans: readonly Span[];
  readonly table: 'statistics' | 'breakdown';
  /** The maximum number of rows to add up and of groups to return. */
  readonly rowsMax: number;
  readonly groupsMax: number;
}

/** What the executions have in common; null for anything. With any, `table` is `breakdown`. */
export interface StatisticsFilter {
  readonly model: string | null;
  readonly apiKeyId: string | null;
  /** Neither together with `byLabel`: rows have one label. With both, the records of the user are added up. */
  readonly user: string | null;
  readonly tag: string | null;
}

/** One group of one interval. Fields that the request does not group by are absent. */
export interface StatisticsGroup {
  /** The number of the interval, from 0. */
  readonly intervalIndex: number;
  readonly agentId?: string;
  readonly agentName?: string | null;
  readonly status?: string;
  readonly source?: string;
  readonly promptVersionId?: string;
  readonly promptVersionLabel?: string | null;
  readonly model?: string;
  readonly apiKeyId?: string | null;
  readonly errorCode?: string | null;
  /** The value of the label; null for calls without one, and for the rest. */
  readonly label?: string | null;
  /** Whether the group is the rest of the values. */
  readonly other?: boolean;
  readonly occurred: number;
  readonly recorded: number;
  /** Without refusals. */
  readonly accepted: number;
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
 * The groups by interval and key, or which limit the request exceeds. `offset 0` makes PostgreSQL look up the rows of each agent
 * separately; otherwise it may scan those of all workspaces.
 */
export async function readStatistics(
  db: Db,
  request: StatisticsRead,
): Promise<readonly StatisticsGroup[] | 'too many rows' | 'too many groups'> {
  const { bounds, rowsMax, groupsMax, byLabel, only } = request;
  const isPair = only !== undefined && isOfPair(only);
  if (isPair && (await countUserRecords(db, request)) > rowsMax) return 'too many rows';
  const byKeys = request.by.map((grouping) => keyOf[grouping]);
  const keys = byLabel === null ? byKeys : [...byKeys, 'label', 'other'];
  const columns = joinSql(keys.map((key) => sql`${groupKey(key)} as ${sql.ref(key)},`));
  const { rows } = await sql<StoredGroup>`
    with bounds as (select array(
        select to_timestamp(ms / 1000)
        from unnest(${bounds.slice(0, -1)}::float8[]) with ordinality as b (ms, ordinal) order by ordinal) as starts),
    found as (${isPair ? pairRecords(request) : bucketRows(request)} limit ${rowsMax + 1}),
    ${largestOf(byLabel)}
    groups as (
      select width_bucket(bucket, (select starts from bounds)) - 1 as interval_index, ${columns}
        sum(occurred)::bigint as occurred,
        coalesce(sum(recorded) filter (where bucket >= (select at from history_floor)), 0)::bigint as recorded,
        coalesce(sum(occurred) filter (where status not in ('rate_limited', 'unauthorized')), 0)::bigint as accepted,
        coalesce(sum(occurred) filter (where status = 'success'), 0)::bigint as succeeded,
        coalesce(sum(occurred) filter (where status = 'failed'), 0)::bigint as failed,
        sum(input_tokens)::bigint as input_tokens, sum(output_tokens)::bigint as output_tokens,
        sum(cost_usd) as cost_usd, sum(cost_unknown)::bigint as cost_unknown,
        string_agg(${byLabel === null ? sql`latency::text` : signedLatency}, ';') as latency, count(*) as rows_read
      from ${byLabel === null ? sql`found` : sql`ranked`}
      group by ${joinSql(keys.map((key) => sql`${groupKey(key)},`))} interval_index
      ${byLabel === null ? sql`` : sql`having sum(occurred) > 0`}
      limit ${groupsMax + 1})
    select g.* ${joinSql(request.by.map((grouping) => nameOf[grouping] ?? sql``))}
    from groups g ${joinSql(request.by.map((grouping) => joins[grouping] ?? sql``))}
    order by ${sql.join([sql`interval_index`, ...keys.map((key) => sql`${sql.ref(`g.${key}`)}::text collate "C"`)])}`.execute(
    db,
  );
  if (rows.length > groupsMax) return 'too many groups';
  if (rows.reduce((sum, row) => sum + row.rowsRead, 0) > rowsMax) return 'too many rows';
  return withLatencies(rows.map(({ rowsRead: _, ...group }) => group));
}

/** SQL: a key of the groups. The stored source also tells what is of a playground. */
function groupKey(key: string): Sql {
  return key === 'source' ? sql`split_part(source::text, '_', 1)` : sql.ref(key);
}

/** Whether it filters by a user and a tag: the statistics count each of them, not both. */
export function isOfPair({ user, tag }: StatisticsFilter): boolean {
  return user !== null && tag !== null;
}

/** As many of the records of the user as may be read, and one more. */
async function countUserRecords(db: Db, request: StatisticsRead): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*)::int as total from (
      select from executions e where ${ofUser(request)} limit ${request.rowsMax + 1}) as records`.execute(
    db,
  );
  return rows[0]?.total ?? 0;
}

/** SQL: the records `e` of the user in these intervals, whatever their agent. */
function ofUser({ of, only, bounds }: StatisticsRead): Sql {
  const workspaceId =
    'agentId' in of
      ? sql`(select a.workspace_id from agents a where a.id = ${of.agentId}::uuid)`
      : sql`${of.viewer.workspaceId}::uuid`;
  return sql`e.workspace_id = ${workspaceId} and e.end_user = ${only?.user} and ${aboveFloor}
    and ${inRange(idsOf({ fromMs: bounds[0] ?? 0, toMs: bounds.at(-1) ?? 0 }))}`;
}

/** SQL: the records of the user with the tag, each as a row of its own. */
function pairRecords(request: StatisticsRead): Sql {
  return sql`
    select e.agent_id, id_time(e.id) as bucket, e.status, e.source, e.prompt_version_id, e.model, e.api_key_id, e.error_code,
      1 as occurred, 1 as recorded, e.input_tokens, e.output_tokens, e.cost_usd, (not e.cost_known)::int as cost_unknown,
      case when e.started_at is null then '{}'
        else array_fill(1::bigint, array[1], array[latency_bin(e.latency_ms) + 1]) end as latency
    from executions e
    where ${ofUser(request)} and e.agent_id in (select a.id from ${agentsOf(request.of)} as a)
      and e.tags @> array[${request.only?.tag}]::text[] and ${hasDimensions('e', request)}`;
}

/** SQL: the stored rows of all spans and agents. */
function bucketRows(request: StatisticsRead): Sql {
  const { spans } = request;
  return sql`
    select b.* from unnest(${spans.map((span) => span.level)}::text[],
        ${spans.map((span) => span.fromMs)}::float8[], ${spans.map((span) => span.toMs)}::float8[])
        as s (level, from_ms, to_ms)
      cross join ${agentsOf(request.of)} as a
      cross join lateral (${rowsOf(request)} offset 0) as b`;
}

/** SQL: the filters that rows and records share. */
function hasDimensions(of: 'r' | 'e', { playground, only }: StatisticsRead): Sql {
  const { model = null, apiKeyId = null } = only ?? {};
  return sql`${hasSource(sql.ref(`${of}.source`), { source: null, playground })}
    ${model === null ? sql`` : sql`and ${sql.ref(`${of}.model`)} = ${model}`}
    ${apiKeyId === null ? sql`` : sql`and ${sql.ref(`${of}.api_key_id`)} = ${apiKeyId}::uuid`}`;
}

/** SQL: the stored rows of agent `a` in span `s`. */
function rowsOf(request: StatisticsRead): Sql {
  const { table, byLabel, only } = request;
  const inSpan = sql`r.agent_id = a.id and r.level = s.level
    and r.bucket >= to_timestamp(s.from_ms / 1000) and r.bucket < to_timestamp(s.to_ms / 1000)
    and ${hasDimensions('r', request)}`;
  const value = only?.user ?? only?.tag ?? null;
  if (value !== null) {
    const kind = only?.user == null ? 'tag' : 'user';
    return sql`select * from label_buckets r where ${inSpan} and r.label = label_id(${kind}, '', ${value})`;
  }
  if (byLabel === null) return sql`select * from ${sql.table(table)} r where ${inSpan}`;
  const [kind, name] = labelKindOf(byLabel.grouping);
  const dimensions = sql`r.agent_id, r.bucket, r.status, r.source, r.prompt_version_id, r.model, r.api_key_id,
    r.error_code`;
  const sums = (sign: 1 | -1) =>
    sql.raw(
      `${sign} as sign, ${sumColumns.map((one) => `${sign} * r.${one} as ${one}`).join(', ')}, r.latency`,
    );
  // What has no label is the total less what has one. A call with two tags is subtracted once.
  return sql`
    select ${dimensions}, null::text as value, ${sums(1)} from breakdown r where ${inSpan}
    union all
    select ${dimensions}, null::text, ${sums(-1)} from label_buckets r
    where ${inSpan} and r.kind = ${kind === 'tag' ? 'tagged' : kind} and r.name = ${name}
    union all
    select ${dimensions}, r.value, ${sums(1)} from label_buckets r
    where ${inSpan} and r.kind = ${kind} and r.name = ${name}`;
}

const sumColumns = [
  'occurred',
  'recorded',
  'input_tokens',
  'output_tokens',
  'cost_usd',
  'cost_unknown',
];

/** SQL: the values with the most calls, and each row with its value or, for the rest, null. */
function largestOf(byLabel: StatisticsRead['byLabel']): Sql {
  if (byLabel === null) return sql``;
  return sql`
    largest as materialized (
      select value from found where value is not null group by value
      order by sum(occurred) desc, value collate "C" limit ${byLabel.valuesMax}),
    ranked as (
      select found.*, largest.value as label, found.value is not null and largest.value is null as other
      from found left join largest on largest.value = found.value),`;
}

const signedLatency = sql`case when sign < 0 then '-' else '' end || latency::text`;

function labelKindOf(grouping: LabelGrouping): [kind: 'user' | 'tag' | 'metadata', name: string] {
  if (grouping === 'user' || grouping === 'tag') return [grouping, ''];
  return ['metadata', grouping.slice('metadata.'.length)];
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
const nameOf: Partial<Record<Grouping, Sql>> = {
  agent: sql`, agents.name as agent_name`,
  version: sql`, prompt_versions.label as prompt_version_label`,
};
const joins: Partial<Record<Grouping, Sql>> = {
  agent: sql`left join agents on agents.id = g.agent_id`,
  version: sql`left join prompt_versions on prompt_versions.id = g.prompt_version_id`,
};

function agentsOf(of: StatisticsRead['of']): Sql {
  if ('agentId' in of) return sql`(select ${of.agentId}::uuid as id)`;
  const { viewer, among = null } = of;
  const nameOf = among === null ? sql`` : sql`and a.id = any (${among}::uuid[])`;
  return sql`(select a.id from agents a where ${visibleIncludingDeleted(viewer)} ${nameOf})`;
}

function joinSql(parts: readonly Sql[]): Sql {
  return parts.length === 0 ? sql`` : sql.join(parts, sql` `);
}

/** The sums of each group over all intervals, in interval 0. A group keeps the place of its key in the order. */
export async function sumIntervals(groups: readonly StatisticsGroup[]): Promise<StatisticsGroup[]> {
  const sums = new Map<
    string,
    Omit<Writable<StatisticsGroup>, 'latency'> & { latency: number[] }
  >();
  for (const [index, { intervalIndex: _, latency, ...group }] of groups.entries()) {
    if (index % groupsPerSlice === groupsPerSlice - 1) await yieldToEventLoop();
    const key = sortKey(group);
    const sum = sums.get(key);
    if (sum === undefined) {
      sums.set(key, { ...group, intervalIndex: 0, latency: [...latency] });
      continue;
    }
    sum.occurred += group.occurred;
    sum.recorded += group.recorded;
    sum.accepted += group.accepted;
    sum.succeeded += group.succeeded;
    sum.failed += group.failed;
    sum.inputTokens += group.inputTokens;
    sum.outputTokens += group.outputTokens;
    sum.costUsd = addDecimals(sum.costUsd, group.costUsd);
    sum.costUnknown += group.costUnknown;
    for (const [bin, n] of latency.entries()) sum.latency[bin] = (sum.latency[bin] ?? 0) + n;
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const groupsPerSlice = 1_000;

function sortKey(group: Omit<StatisticsGroup, 'intervalIndex' | 'latency'>): string {
  const { agentId, status, source, promptVersionId, model, apiKeyId, errorCode } = group;
  const { label, other } = group;
  // As in the database, null comes last.
  const key = [agentId, status, source, promptVersionId, model, apiKeyId, errorCode, label, other];
  return JSON.stringify(key);
}

/** Adds up histograms here, four times faster than SQL does, and yields to other work in between. */
export async function withLatencies<Row extends { readonly latency: string }>(
  rows: readonly Row[],
): Promise<(Omit<Row, 'latency'> & { latency: number[] })[]> {
  const groups: (Omit<Row, 'latency'> & { latency: number[] })[] = [];
  let read = 0;
  for (const { latency: texts, ...group } of rows) {
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

/** Adds a histogram in array syntax, such as `[12:14]={3,NULL,1}` or `{2}`, or subtracts it after a `-`. A subscript is one more than its bin. */
function addHistogram(bins: number[], signed: string): void {
  const sign = signed.startsWith('-') ? -1 : 1;
  const text = sign < 0 ? signed.slice(1) : signed;
  let bin = text.startsWith('[') ? Number.parseInt(text.slice(1), 10) - 1 : 0;
  let n = 0;
  for (let at = text.indexOf('{') + 1; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character >= zero && character <= nine) n = n * 10 + character - zero;
    else if (character === comma || character === end) {
      while (bins.length <= bin) bins.push(0);
      bins[bin] = (bins[bin] ?? 0) + sign * n;
      bin++;
      n = 0;
    }
  }
}

const [zero, nine, comma, end] = [48, 57, 44, 125];
