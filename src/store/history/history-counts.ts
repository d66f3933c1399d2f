import { sql } from 'kysely';
import {
  bucketPiece,
  type IdRange,
  type Piece,
  type Span,
  type StepLevel,
  idsOf as spanIds,
} from '../../core/history/history-range.ts';
import { levelMs } from '../../core/history/statistics.ts';
import type { Trx } from '../connection/database.ts';
import {
  countable,
  ended,
  type HistoryRequest,
  inListedRange,
  inRange,
  matching,
  needsBreakdown,
  ofAgents,
  rangeRows,
  underWay,
  wholeOf,
} from './history-filter.ts';

/** Counting a history, in the snapshot of the transaction that each function is given. */

/** The levels of the buckets that can answer a question, coarsest first. */
export function levelsOf(question: HistoryRequest): readonly StepLevel[] {
  return needsBreakdown(question) ? ['day', 'quarter'] : ['day', 'hour', 'minute'];
}

export interface SpanCount {
  /** Its buckets in which something matches, newest first. */
  readonly pieces: Piece[];
  /** How many records there are in all of it; 0 where none matches. */
  readonly all: number;
}

export async function countBuckets(
  trx: Trx,
  question: HistoryRequest,
  spans: readonly Span[],
): Promise<SpanCount[]> {
  if (spans.length === 0) return [];
  const counted = [
    ...(await countRecorded(trx, question, spans)),
    ...(question.includeProcessing ? await countUnderWay(trx, question, spans) : []),
  ];
  const bySpan = spans.map(() => new Map<number, { matching: number; all: number }>());
  for (const { place, startMs, matching: n, all } of counted) {
    const before = bySpan[place - 1]?.get(startMs) ?? { matching: 0, all: 0 };
    bySpan[place - 1]?.set(startMs, { matching: before.matching + n, all: before.all + all });
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
  /** Which of the spans, from 1. */
  readonly place: number;
  readonly startMs: number;
  readonly matching: number;
  readonly all: number;
}

async function countRecorded(
  trx: Trx,
  question: HistoryRequest,
  spans: readonly Span[],
): Promise<BucketCount[]> {
  const table = sql.table(needsBreakdown(question) ? 'breakdown' : 'statistics');
  // Grouped inside, so that each span is a search of its own in the index, whatever the planner knows of the table.
  const { rows } = await sql<BucketCount>`
    select place, (extract(epoch from bucket) * 1000)::float8 as start_ms, matching::float8, "all"::float8
    from unnest(${spans.map(({ level }) => level)}::text[],
        ${spans.map(({ fromMs }) => new Date(fromMs))}::timestamptz[],
        ${spans.map(({ toMs }) => new Date(toMs))}::timestamptz[])
      with ordinality as span (level, from_at, to_at, place)
    cross join lateral (
      select s.bucket, sum(case when ${countable('s', question)} then s.recorded else 0 end) as matching,
        sum(s.recorded) as "all"
      from ${table} s
      where ${ofAgents('s.agent_id', question)} and s.level = span.level
        and s.bucket >= span.from_at and s.bucket < span.to_at
        and s.bucket >= (select at from history_floor)
      group by s.bucket) as counted
    where "all" > 0`.execute(trx);
  return rows;
}

/** The runs that have not ended, by the buckets that their records will be counted in. */
async function countUnderWay(
  trx: Trx,
  question: HistoryRequest,
  spans: readonly Span[],
): Promise<BucketCount[]> {
  const { rows } = await sql<BucketCount>`
    select place, start_ms::float8, "all"::float8 as matching, "all"::float8
    from unnest(${spans.map(({ level }) => levelMs[level])}::bigint[],
        ${spans.map((span) => spanIds(span).fromId)}::uuid[],
        ${spans.map((span) => spanIds(span).toId)}::uuid[])
      with ordinality as span (step_ms, from_id, to_id, place)
    cross join lateral (
      select id_ms(e.id) / step_ms * step_ms as start_ms, count(*) as "all"
      from ${underWay(question)} and e.id >= span.from_id and e.id < span.to_id
      group by 1) as counted`.execute(trx);
  return rows;
}

/** How many runs of a range have not ended. */
export async function countQueued(
  trx: Trx,
  question: HistoryRequest,
  range: IdRange,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from ${underWay(question)} and ${inRange(range)}`.execute(trx);
  return rows[0]?.total ?? 0;
}

/** The ranges in which something matches, by a look at the index of each record. */
export async function countRanges(
  trx: Trx,
  question: HistoryRequest,
  cuts: readonly IdRange[],
): Promise<Piece[]> {
  if (cuts.length === 0) return [];
  const counts = cuts.map(
    (range) => sql`
      select ${range.fromId} as from_id, ${range.toId} as to_id,
        (select count(*) from executions e where ${ended(question)} and ${inRange(range)} and ${matching(question)})
        ${question.includeProcessing ? sql`+ (select count(*) from ${underWay(question)} and ${inRange(range)})` : sql``}
        as matching`,
  );
  const { rows } = await sql<
    IdRange & { matching: number }
  >`${sql.join(counts, sql` union all `)}`.execute(trx);
  return rows
    .filter((row) => row.matching > 0)
    .map(({ fromId, toId, matching: n }) => ({ level: null, fromId, toId, matching: n, all: n }));
}

/** How many records of these ranges match, by a look at each. */
export async function countRecords(
  trx: Trx,
  question: HistoryRequest,
  ranges: readonly IdRange[],
): Promise<number> {
  if (ranges.length === 0) return 0;
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from ${rangeRows(ranges)}
    cross join lateral (
      select from executions e where ${ended(question)} and ${inListedRange} and ${inRange(wholeOf(ranges))}
        and ${matching(question)}) as one`.execute(trx);
  return rows[0]?.total ?? 0;
}
