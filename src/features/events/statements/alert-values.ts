import { type BucketLevel, spansOf } from '../../../core/history/history-range.ts';
import { levelMs } from '../../../core/history/statistics.ts';
import type { Db } from '../../../db/database.ts';
import { aboveFloor } from '../../../db/id-bounds.ts';
import { type Sql, sql } from '../../../db/sql.ts';
import { hasSource } from '../../history/statements/history-filter.ts';
import {
  readStatistics,
  type StatisticsGroup,
  withLatencies,
} from '../../history/statements/read-statistics.ts';
import { visibleIncludingDeleted } from '../../people/statements/visible-agents.ts';
import type { AlertSettings, CallSums } from '../rules/alert.ts';
import type { AcceptedCalls, MinuteSums, Wait } from '../rules/alert-preview.ts';

/**
 * What alerts measure. Whole hours and minutes come from the statistics, which are exact. Statistics by tag exist per quarter
 * of an hour: the minutes at both ends of a window are read from the records, at most half an hour of them.
 */

interface QueueScope extends Pick<AlertSettings, 'agentIds' | 'tag'> {
  readonly workspaceId: string;
}

export interface AlertScope extends QueueScope, Pick<AlertSettings, 'metric'> {}

/** How calls of a playground end says nothing about the agents. They use money, quota and slots like any other. */
function playgroundOf({ metric }: AlertScope): boolean | null {
  const isAboutAgents = ['failureRate', 'count', 'p50', 'p95'].includes(metric);
  return isAboutAgents ? false : null;
}

/** SQL: the source of records or buckets that the alert is about. */
function isAbout(scope: AlertScope, column: string): Sql {
  return hasSource(sql.ref(column), { source: null, playground: playgroundOf(scope) });
}

interface Bounds {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The sums of the calls accepted between two whole minutes. */
export async function readCallSums(db: Db, scope: AlertScope, bounds: Bounds): Promise<CallSums> {
  if (scope.tag !== null) return readTagSums(db, scope, scope.tag, bounds);
  const found = await readSums(db, scope, bounds, { levels: ['hour', 'minute'], rowsMax });
  if (!found) throw new Error(`an alert adds up more than ${rowsMax} rows`);
  return found;
}

interface SumsOptions {
  /** The bucket levels whose whole buckets the bounds consist of, coarsest first. */
  readonly levels: readonly BucketLevel[];
  readonly rowsMax: number;
}

/** The same without regard to the tag. Null if there are too many rows to add up. */
async function readSums(
  db: Db,
  scope: AlertScope,
  { fromMs, toMs }: Bounds,
  { levels, rowsMax }: SumsOptions,
): Promise<(CallSums & Pick<StatisticsGroup, 'accepted' | 'recorded'>) | null> {
  const of = { viewer: workspaceViewer(scope), among: scope.agentIds };
  const groups = await readStatistics(db, {
    ...{ of, by: [], byLabel: null, bounds: [fromMs, toMs], rowsMax, groupsMax: 1 },
    ...{
      spans: spansOf(fromMs, toMs, levels),
      playground: playgroundOf(scope),
      table: 'statistics',
    },
  });
  return typeof groups === 'string' ? null : (groups[0] ?? noCalls);
}

/** A window has at most 23 hours and 119 minutes; an agent has a few rows in each. */
const rowsMax = 5_000_000;

const noCalls = {
  ...{ occurred: 0, accepted: 0, recorded: 0, succeeded: 0, failed: 0 },
  ...{ costUsd: '0', costUnknown: 0, latency: [] },
};

/** An alert sees every agent of its workspace. */
function workspaceViewer({ workspaceId }: QueueScope) {
  return { workspaceId, userId: null, role: 'owner' as const, allAgents: true, agentIds: [] };
}

/** SQL: the agents of an alert as `a`. */
function agentsOf(scope: QueueScope): Sql {
  const { agentIds } = scope;
  const among = agentIds === null ? sql`` : sql`and a.id = any (${agentIds}::uuid[])`;
  return sql`(select a.id from agents a where ${visibleIncludingDeleted(workspaceViewer(scope))} ${among}) as a`;
}

/** SQL: what records `e` add, with the columns of statistics. Metrics that only count by status read the index alone. */
function ofRecord({ metric }: AlertScope): Sql {
  const counted = sql`e.status, 1::bigint as occurred`;
  if (['failureRate', 'count', 'quotaUsed'].includes(metric))
    return sql`${counted}, 0::numeric as cost_usd, 0::bigint as cost_unknown, '' as latency`;
  return sql`${counted}, e.cost_usd, (not e.cost_known)::int::bigint as cost_unknown,
    case when e.started_at is null then '' else
      format('[%1$s:%1$s]={1}', latency_bin(e.latency_ms) + 1) end as latency`;
}

const sums = sql`sum(occurred)::bigint as occurred,
  coalesce(sum(occurred) filter (where status not in ('rate_limited', 'unauthorized')), 0)::bigint as accepted,
  coalesce(sum(occurred) filter (where status = 'success'), 0)::bigint as succeeded,
  coalesce(sum(occurred) filter (where status = 'failed'), 0)::bigint as failed,
  sum(cost_usd) as cost_usd, sum(cost_unknown)::bigint as cost_unknown, string_agg(latency, ';') as latency`;

interface StoredSums extends Omit<CallSums, 'latency'> {
  readonly accepted: number;
  readonly latency: string;
}

async function readTagSums(
  db: Db,
  scope: AlertScope,
  tag: string,
  { fromMs, toMs }: Bounds,
): Promise<CallSums> {
  const [quarters] = spansOf(fromMs, toMs, ['quarter']);
  const edges =
    quarters === undefined
      ? [{ fromMs, toMs }]
      : [
          { fromMs, toMs: quarters.fromMs },
          { fromMs: quarters.toMs, toMs },
        ];
  const { rows } = await sql<StoredSums>`
    with found as (
      select b.* from ${agentsOf(scope)} cross join lateral (
        select r.status, r.occurred, r.cost_usd, r.cost_unknown, r.latency::text as latency
        from label_buckets r where ${isTagged(tag)} and ${isAbout(scope, 'r.source')}
          and r.bucket >= to_timestamp(${quarters?.fromMs ?? 0} / 1000.0)
          and r.bucket < to_timestamp(${quarters?.toMs ?? 0} / 1000.0) offset 0) as b
      union all
      select b.* from ${agentsOf(scope)} cross join ${rangeRows(edges)}
      cross join lateral (
        select ${ofRecord(scope)} from executions e
        where ${inRange(sql`a.id`)} and ${isAbout(scope, 'e.source')} and e.tags @> ${[tag]}::text[] offset 0) as b)
    select ${sums} from found having count(*) > 0`.execute(db);
  return (await withLatencies(rows))[0] ?? noCalls;
}

/** SQL: quarters `r` of agent `a` with this tag. */
function isTagged(tag: string): Sql {
  return sql`r.agent_id = a.id and r.kind = 'tag' and r.name = '' and r.value = ${tag}
    and r.label = label_id('tag', '', ${tag}) and r.level = 'quarter'`;
}

function rangeRows(ranges: readonly Bounds[]): Sql {
  return sql`unnest(${ranges.map((one) => one.fromMs)}::float8[], ${ranges.map((one) => one.toMs)}::float8[])
    as range (from_ms, to_ms)`;
}

/** SQL: records `e` of this agent in `range`. */
function inRange(agentId: Sql): Sql {
  return sql`e.agent_id = ${agentId} and e.id >= id_floor(to_timestamp(range.from_ms / 1000))
    and e.id < id_floor(to_timestamp(range.to_ms / 1000)) and ${aboveFloor}`;
}

/** The stored rows and the records that a preview reads at most. */
const previewRowsMax = 500_000;

/**
 * The calls of each minute between two whole hours, oldest first, without empty minutes; null if there are too many. An hour
 * of an agent whose minutes are rolled up is read from its records; with a tag, every hour of an agent that has it. Hours
 * without calls cost nothing, however many agents there are.
 */
export async function readMinutes(
  db: Db,
  scope: AlertScope,
  bounds: Bounds,
): Promise<(MinuteSums & AcceptedCalls)[] | null> {
  const { rows } = await sql<StoredMinute & { readonly tooMany: boolean }>`
    with stored as materialized (${storedHoursAndMinutes(scope, bounds)} limit ${previewRowsMax + 1}),
    hours as materialized (
      select agent_id, hour,
        sum(recorded) filter (where level = 'hour' and hour >= (select at from history_floor)) as recorded
      from stored ${isReadFromRecords(scope, bounds)}),
    ranges as materialized (
      select agent_id, extract(epoch from min(hour)) * 1000 as from_ms,
        extract(epoch from max(hour)) * 1000 + ${levelMs.hour} as to_ms
      from (select agent_id, hour, hour - row_number() over (partition by agent_id order by hour) * interval '1 hour' as island
        from hours) as h
      group by agent_id, island),
    amounts as materialized (
      select (select count(*) from stored) > ${previewRowsMax}
        or coalesce((select sum(recorded) from hours), 0) > ${previewRowsMax} as too_many),
    calls as (
      select extract(epoch from bucket) * 1000 as start_ms, status, occurred, cost_usd, cost_unknown, latency
      from stored s
      where level = 'minute' and not exists (select from hours h where (h.agent_id, h.hour) = (s.agent_id, s.hour))
      union all
      select b.* from ranges as range cross join lateral (
        select id_ms(e.id) / ${levelMs.minute} * ${levelMs.minute} as start_ms, ${ofRecord(scope)}
        from executions e
        where ${inRange(sql`range.agent_id`)} and ${isAbout(scope, 'e.source')} ${hasTag(scope, 'e')} offset 0) as b),
    minutes as (
      select start_ms::float8, ${sums} from calls where not (select too_many from amounts) group by start_ms)
    select too_many, minutes.* from amounts left join minutes on true order by start_ms`.execute(
    db,
  );
  if (rows[0]?.tooMany) return null;
  return withLatencies(rows.filter(({ startMs }) => startMs !== null));
}

interface StoredMinute extends StoredSums {
  readonly startMs: number;
}

/** SQL: the rows of the statistics by agent. A tag is found in the records alone. */
function storedHoursAndMinutes(scope: AlertScope, { fromMs, toMs }: Bounds): Sql {
  const levels = scope.tag === null ? ['hour', 'minute'] : ['hour'];
  return sql`
    select a.id as agent_id, b.* from unnest(${levels}::text[]) as s (level) cross join ${agentsOf(scope)}
    cross join lateral (
      select r.level, r.bucket, date_trunc('hour', r.bucket, 'UTC') as hour, r.status, r.occurred, r.recorded,
        r.cost_usd, r.cost_unknown, r.latency::text as latency
      from statistics r
      where r.agent_id = a.id and r.level = s.level and r.bucket >= to_timestamp(${fromMs} / 1000.0)
        and r.bucket < to_timestamp(${toMs} / 1000.0) and ${isAbout(scope, 'r.source')} offset 0) as b`;
}

/** SQL: groups the stored rows by the hours of agents that are read from records. */
function isReadFromRecords(scope: AlertScope, { fromMs, toMs }: Bounds): Sql {
  if (scope.tag === null)
    return sql`group by agent_id, hour
      having sum(case level when 'hour' then occurred else -occurred end) <> 0`;
  return sql`
    where (agent_id, hour) in (
      select a.id, date_trunc('hour', b.bucket, 'UTC') from ${agentsOf(scope)} cross join lateral (
        select r.bucket from label_buckets r
        where ${isTagged(scope.tag)} and r.bucket >= to_timestamp(${fromMs} / 1000.0)
          and r.bucket < to_timestamp(${toMs} / 1000.0) offset 0) as b)
    group by agent_id, hour`;
}

/** How many calls used an AI Action between two whole hours; null if there are too many rows. */
export async function countAccepted(
  db: Db,
  scope: AlertScope,
  bounds: Bounds,
): Promise<number | null> {
  const read = { levels: ['day', 'hour'], rowsMax: previewRowsMax } as const;
  return (await readSums(db, scope, bounds, read))?.accepted ?? null;
}

function hasTag({ tag }: QueueScope, alias: 'e' | 'q'): Sql {
  return tag === null ? sql`` : sql`and ${sql.ref(`${alias}.tags`)} @> ${[tag]}::text[]`;
}

/**
 * When calls that were accepted between two whole hours waited for their first start, oldest first: only those that waited at a
 * whole minute, and of those with the same minutes the oldest. Null if there are too many records.
 */
export async function readWaits(db: Db, scope: AlertScope, bounds: Bounds): Promise<Wait[] | null> {
  const read = { levels: ['day', 'hour'], rowsMax: previewRowsMax } as const;
  const counted = await readSums(db, scope, bounds, read);
  if (!counted || counted.recorded > previewRowsMax) return null;
  const { rows } = await sql<Wait>`
    with waited as (
      select b.from_ms, b.last_ms from ${agentsOf(scope)} cross join ${rangeRows([bounds])}
      cross join lateral (
        select ${waitOf('e', sql`coalesce(e.started_at, e.completed_at)`)} from executions e
        where ${inRange(sql`a.id`)} and e.status not in ('rate_limited', 'unauthorized') ${hasTag(scope, 'e')} offset 0) as b
      where b.last_ms >= b.from_ms
      union all
      select b.from_ms, b.last_ms from ${agentsOf(scope)} cross join lateral (
        select ${waitOf('q', sql`q.started_at`)} from execution_queue q
        where q.agent_id = a.id ${hasTag(scope, 'q')} order by q.id limit ${previewRowsMax}) as b
      where b.last_ms is null or b.last_ms >= b.from_ms)
    select min(from_ms) as from_ms, last_ms from waited
    group by ceil(from_ms / ${levelMs.minute}), last_ms order by 1, last_ms`.execute(db);
  return rows;
}

/** SQL: the acceptance of a call, and the last whole minute before its start. */
function waitOf(alias: 'e' | 'q', start: Sql): Sql {
  return sql`(extract(epoch from ${sql.ref(`${alias}.executed_at`)}) * 1000)::float8 as from_ms,
    (ceil(extract(epoch from ${start}) * 1000 / ${levelMs.minute}) - 1)::float8 * ${levelMs.minute} as last_ms`;
}

/** How long the oldest execution that waits for its start has waited, in seconds; 0 if none waits. */
export async function readQueueAge(db: Db, scope: QueueScope): Promise<number> {
  const { rows } = await sql<{ seconds: number | null }>`
    select extract(epoch from clock_timestamp() - min(b.executed_at))::float8 as seconds
    from ${agentsOf(scope)} cross join lateral (
      select q.executed_at from execution_queue q
      where q.agent_id = a.id and q.worker is null and q.available_at is null ${hasTag(scope, 'q')}
      order by q.id limit 1) as b`.execute(db);
  return Math.max(0, rows[0]?.seconds ?? 0);
}
