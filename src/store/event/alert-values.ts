import type { AlertSettings, CallSums } from '../../core/event/alert.ts';
import type { AcceptedCalls, MinuteSums, Wait } from '../../core/event/alert-preview.ts';
import { type BucketLevel, type Span, spansOf } from '../../core/history/history-range.ts';
import { levelMs } from '../../core/history/statistics.ts';
import type { Db } from '../../db/database.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { hasSource } from '../history/history-filter.ts';
import { aboveFloor } from '../history/id-bounds.ts';
import { addHistogram, readStatistics, type StatisticsGroup } from '../history/read-statistics.ts';
import { visibleIncludingDeleted } from '../people/visible-agents.ts';

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
  const { fromMs, toMs } = bounds;
  const spans = spansOf(fromMs, toMs, ['hour', 'minute']);
  const of = { viewer: workspaceViewer(scope), among: scope.agentIds };
  const playground = playgroundOf(scope);
  const read = { of, by: [], byLabel: null, bounds: [fromMs, toMs], spans, rowsMax, groupsMax: 1 };
  const groups = await readStatistics(db, { ...read, playground, table: 'statistics' });
  if (typeof groups === 'string') throw new Error(`an alert adds up more than ${rowsMax} rows`);
  return groups[0] ?? noCalls;
}

/** A window has at most 23 hours and 119 minutes; an agent has a few rows in each. */
const rowsMax = 5_000_000;

const noCalls: CallSums = {
  ...{ occurred: 0, succeeded: 0, failed: 0, costUsd: '0', costUnknown: 0, latency: [] },
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

/** SQL: what records `e` add, with the columns of statistics. */
const ofRecord = sql`e.status, 1::bigint as occurred, e.cost_usd, (not e.cost_known)::int::bigint as cost_unknown,
  case when e.started_at is null then '' else
    format('[%1$s:%1$s]={1}', latency_bin(e.latency_ms) + 1) end as latency`;

const sums = sql`sum(occurred)::bigint as occurred,
  coalesce(sum(occurred) filter (where status not in ('rate_limited', 'unauthorized')), 0)::bigint as accepted,
  coalesce(sum(occurred) filter (where status = 'success'), 0)::bigint as succeeded,
  coalesce(sum(occurred) filter (where status = 'failed'), 0)::bigint as failed,
  sum(cost_usd) as cost_usd, sum(cost_unknown)::bigint as cost_unknown, string_agg(latency, ';') as latency`;

interface StoredSums extends Omit<CallSums, 'latency'> {
  readonly accepted: number;
  readonly latency: string;
}

function sumsOf({ latency: texts, ...row }: StoredSums) {
  const latency: number[] = [];
  for (const text of texts.split(';')) if (text !== '') addHistogram(latency, text);
  return { ...row, latency };
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
        select ${ofRecord} from executions e
        where ${inRange} and ${isAbout(scope, 'e.source')} and e.tags @> ${[tag]}::text[] offset 0) as b)
    select ${sums} from found having count(*) > 0`.execute(db);
  return rows[0] ? sumsOf(rows[0]) : noCalls;
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

/** SQL: records `e` of agent `a` in `range`. */
const inRange = sql`e.agent_id = a.id and e.id >= id_floor(to_timestamp(range.from_ms / 1000))
  and e.id < id_floor(to_timestamp(range.to_ms / 1000)) and ${aboveFloor}`;

/** The stored rows and the records that a preview reads at most. */
const previewRowsMax = 500_000;

/**
 * The calls of each minute between two whole hours, oldest first, without empty minutes; null if there are too many. Minutes
 * of quiet hours are rolled up: their records are read instead. With a tag, the records of every hour that has it.
 */
export async function readMinutes(
  db: Db,
  scope: AlertScope,
  bounds: Bounds,
): Promise<(MinuteSums & AcceptedCalls)[] | null> {
  const hours = await readIntervals(db, scope, bounds, 'hour');
  if (hours === null) return null;
  const wanted = scope.tag === null ? null : await readTaggedHours(db, scope, scope.tag, bounds);
  const minutes = wanted ? [] : await readIntervals(db, scope, bounds, 'minute');
  if (minutes === null) return null;
  const counted = new Map<number, number>();
  for (const { startMs, occurred } of minutes) {
    const hourMs = startMs - (startMs % levelMs.hour);
    counted.set(hourMs, (counted.get(hourMs) ?? 0) + occurred);
  }
  const toRead = hours.filter(({ startMs, occurred }) =>
    wanted ? wanted.has(startMs) : counted.get(startMs) !== occurred,
  );
  if (toRead.reduce((sum, { recorded }) => sum + recorded, 0) > previewRowsMax) return null;
  const incomplete = new Set(toRead.map(({ startMs }) => startMs));
  const complete = minutes.filter(
    ({ startMs }) => !incomplete.has(startMs - (startMs % levelMs.hour)),
  );
  const read = await readRecords(db, scope, [...incomplete]);
  return [...complete, ...read].sort((one, other) => one.startMs - other.startMs);
}

/** The same calls by hour, which are fewer rows. */
export function readHours(
  db: Db,
  scope: AlertScope,
  bounds: Bounds,
): Promise<AcceptedCalls[] | null> {
  return readIntervals(db, scope, bounds, 'hour');
}

type IntervalSums = StatisticsGroup & MinuteSums;

async function readIntervals(
  db: Db,
  scope: AlertScope,
  { fromMs, toMs }: Bounds,
  level: Extract<BucketLevel, 'hour' | 'minute'>,
): Promise<IntervalSums[] | null> {
  const intervals = (toMs - fromMs) / levelMs[level];
  const bounds = Array.from(
    { length: intervals + 1 },
    (_, index) => fromMs + index * levelMs[level],
  );
  const spans: Span[] = [{ level, fromMs, toMs }];
  const of = { viewer: workspaceViewer(scope), among: scope.agentIds };
  const playground = playgroundOf(scope);
  const read = { of, playground, by: [], byLabel: null, bounds, spans, rowsMax: previewRowsMax };
  const groups = await readStatistics(db, { ...read, table: 'statistics', groupsMax: intervals });
  if (typeof groups === 'string') return null;
  return groups.map((group) => ({ ...group, startMs: bounds[group.intervalIndex] ?? 0 }));
}

async function readTaggedHours(
  db: Db,
  scope: AlertScope,
  tag: string,
  { fromMs, toMs }: Bounds,
): Promise<Set<number>> {
  const { rows } = await sql<{ hourMs: number }>`
    select distinct (extract(epoch from date_trunc('hour', b.bucket, 'UTC')) * 1000)::float8 as hour_ms
    from ${agentsOf(scope)} cross join lateral (
      select r.bucket from label_buckets r
      where ${isTagged(tag)} and r.bucket >= to_timestamp(${fromMs} / 1000.0) and r.bucket < to_timestamp(${toMs} / 1000.0)
      offset 0) as b`.execute(db);
  return new Set(rows.map(({ hourMs }) => hourMs));
}

/** The calls of each minute of these hours, from their records. */
async function readRecords(
  db: Db,
  scope: AlertScope,
  hours: readonly number[],
): Promise<(MinuteSums & AcceptedCalls)[]> {
  if (hours.length === 0) return [];
  const ranges = hours.map((fromMs) => ({ fromMs, toMs: fromMs + levelMs.hour }));
  const tagged = hasTag(scope, 'e');
  const { rows } = await sql<StoredSums & { startMs: number }>`
    select start_ms::float8, ${sums}
    from ${agentsOf(scope)} cross join ${rangeRows(ranges)}
    cross join lateral (
      select id_ms(e.id) / ${levelMs.minute} * ${levelMs.minute} as start_ms, ${ofRecord}
      from executions e where ${inRange} and ${isAbout(scope, 'e.source')} ${tagged} offset 0) as b
    group by start_ms`.execute(db);
  return rows.map(({ startMs, ...row }) => ({ ...sumsOf(row), startMs }));
}

function hasTag({ tag }: QueueScope, alias: 'e' | 'q'): Sql {
  return tag === null ? sql`` : sql`and ${sql.ref(`${alias}.tags`)} @> ${[tag]}::text[]`;
}

/**
 * When calls that were accepted between two whole hours waited for their first start, oldest first: only those that waited at a
 * whole minute, and of those with the same minutes the oldest. Null if there are too many records.
 */
export async function readWaits(db: Db, scope: AlertScope, bounds: Bounds): Promise<Wait[] | null> {
  const hours = await readIntervals(db, scope, bounds, 'hour');
  if (!hours || hours.reduce((sum, { recorded }) => sum + recorded, 0) > previewRowsMax)
    return null;
  const { rows } = await sql<Wait>`
    with waited as (
      select b.from_ms, b.last_ms from ${agentsOf(scope)} cross join ${rangeRows([bounds])}
      cross join lateral (
        select ${waitOf('e', sql`coalesce(e.started_at, e.completed_at)`)} from executions e
        where ${inRange} and e.status not in ('rate_limited', 'unauthorized') ${hasTag(scope, 'e')} offset 0) as b
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
