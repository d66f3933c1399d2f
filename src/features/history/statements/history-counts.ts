import {
  type BucketLevel,
  bucketPiece,
  type IdRange,
  type Piece,
  type Span,
  idsOf as spanIds,
} from '../../../core/history/history-range.ts';
import { levelMs } from '../../../core/history/statistics.ts';
import type { Trx } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';
import {
  countable,
  endedMatches,
  endedRecords,
  type HistoryRequest,
  inRange,
  matchesFilter,
  needsBreakdown,
  ofAgents,
  ofLabel,
  processingFrom,
  processingMatches,
} from './history-filter.ts';

/** Counts the records of a history. Each function reads the snapshot of the given transaction. */

/** The bucket levels that can answer a request, coarsest first. */
export function levelsOf(request: HistoryRequest): readonly BucketLevel[] {
  return needsBreakdown(request) ? ['day', 'quarter'] : ['day', 'hour', 'minute'];
}

export interface SpanCount {
  /** The buckets with matches, newest first. */
  readonly pieces: Piece[];
  /** The number of all records in the span; 0 if none matches. */
  readonly all: number;
}

export async function countBuckets(
  trx: Trx,
  request: HistoryRequest,
  spans: readonly Span[],
): Promise<SpanCount[]> {
  if (spans.length === 0) return [];
  const counted = [
    ...(await countRecorded(trx, request, spans)),
    ...(request.includeProcessing ? await countProcessing(trx, request, spans) : []),
  ];
  const bySpan = spans.map(() => new Map<number, { matching: number; all: number }>());
  for (const { ordinal, startMs, matching: n, all } of counted) {
    const before = bySpan[ordinal - 1]?.get(startMs) ?? { matching: 0, all: 0 };
    bySpan[ordinal - 1]?.set(startMs, { matching: before.matching + n, all: before.all + all });
  }
  return spans.map(({ level }, index) => {
    const buckets = bySpan[index] ?? [];
    const found = [...buckets].sort(([one], [other]) => other - one);
    const inside = found.filter(([, { matching: n }]) => n > 0);
    return {
      pieces: inside.map(([startMs, counts]) => bucketPiece(level, startMs, counts)),
      all: inside.length === 0 ? 0 : found.reduce((sum, [, { all }]) => sum + all, 0),
    };
  });
}

interface BucketCount {
  /** The number of the span, from 1. */
  readonly ordinal: number;
  readonly startMs: number;
  readonly matching: number;
  readonly all: number;
}

async function countRecorded(
  trx: Trx,
  request: HistoryRequest,
  spans: readonly Span[],
): Promise<BucketCount[]> {
  // Grouped inside the lateral join, so that each span is an index search of its own.
  const { rows } = await sql<BucketCount>`
    select ordinal, (extract(epoch from bucket) * 1000)::float8 as start_ms, matching::float8, "all"::float8
    from unnest(${spans.map(({ level }) => level)}::text[],
        ${spans.map(({ fromMs }) => new Date(fromMs))}::timestamptz[],
        ${spans.map(({ toMs }) => new Date(toMs))}::timestamptz[])
      with ordinality as span (level, from_at, to_at, ordinal)
    cross join lateral (
      select bucket, sum(matching) as matching, sum("all") as "all"
      from (${bucketsOf(request)}) as b group by bucket) as counted
    where "all" > 0`.execute(trx);
  return rows;
}

/** SQL: the buckets of a span, with the number of their records, all and matching. */
function bucketsOf(request: HistoryRequest) {
  const { label } = request;
  const inSpan = sql`${ofAgents('s.agent_id', request)} and s.level = span.level
    and s.bucket >= span.from_at and s.bucket < span.to_at
    and s.bucket >= (select at from history_floor)`;
  const matching = sql`case when ${countable('s', request)} then s.recorded else 0 end`;
  const table = sql.table(needsBreakdown(request) ? 'breakdown' : 'statistics');
  if (label === null) {
    return sql`select s.bucket, ${matching} as matching, s.recorded as "all" from ${table} s where ${inSpan}`;
  }
  return sql`
    select s.bucket, 0 as matching, s.recorded as "all" from ${table} s where ${inSpan}
    union all
    select s.bucket, ${matching}, 0 from label_buckets s where ${inSpan} and ${ofLabel(label)}`;
}

/** Counts executions that have not ended, by the buckets that will count their records. */
async function countProcessing(
  trx: Trx,
  request: HistoryRequest,
  spans: readonly Span[],
): Promise<BucketCount[]> {
  const { rows } = await sql<BucketCount>`
    select ordinal, start_ms::float8, "all"::float8 as matching, "all"::float8
    from unnest(${spans.map(({ level }) => levelMs[level])}::bigint[],
        ${spans.map((span) => spanIds(span).fromId)}::uuid[],
        ${spans.map((span) => spanIds(span).toId)}::uuid[])
      with ordinality as span (step_ms, from_id, to_id, ordinal)
    cross join lateral (
      select id_ms(e.id) / step_ms * step_ms as start_ms, count(*) as "all"
      from ${processingFrom(request)} and e.id >= span.from_id and e.id < span.to_id
      group by 1) as counted`.execute(trx);
  return rows;
}

/** Counts the executions of a range that have not ended. */
export async function countQueued(
  trx: Trx,
  request: HistoryRequest,
  range: IdRange,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from ${processingFrom(request)} and ${inRange(range)}`.execute(trx);
  return rows[0]?.total ?? 0;
}

/** Counts the matches of each range by an index scan; omits ranges without a match. */
export async function countRanges(
  trx: Trx,
  request: HistoryRequest,
  ranges: readonly IdRange[],
): Promise<Piece[]> {
  if (ranges.length === 0) return [];
  const counts = ranges.map(
    (range) => sql`
      select ${range.fromId} as from_id, ${range.toId} as to_id,
        (select count(*) from executions e where ${endedRecords(request)} and ${inRange(range)} and ${matchesFilter(request)})
        ${request.includeProcessing ? sql`+ (select count(*) from ${processingFrom(request)} and ${inRange(range)})` : sql``}
        as matching`,
  );
  const { rows } = await sql<
    IdRange & { matching: number }
  >`${sql.join(counts, sql` union all `)}`.execute(trx);
  return rows
    .filter((row) => row.matching > 0)
    .map(({ fromId, toId, matching: n }) => ({ level: null, fromId, toId, matching: n, all: n }));
}

/** Counts the matches in these ranges by reading each record. */
export async function countRecords(
  trx: Trx,
  request: HistoryRequest,
  ranges: readonly IdRange[],
): Promise<number> {
  if (ranges.length === 0) return 0;
  const live = sql`union all ${processingMatches(request, ranges, sql`e.id`)}`;
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from (
      ${endedMatches(request, ranges, sql`e.id`)} ${request.includeProcessing ? live : sql``}) as matches`.execute(
    trx,
  );
  return rows[0]?.total ?? 0;
}
