import { type IdRange, idsOf, type Span } from '../../../core/history/history-range.ts';
import { levelMs } from '../../../core/history/statistics.ts';
import type { Trx } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';
import { statisticsLabelRowsMax as rowsMax } from '../../../http/contract/contract-limits.ts';
import {
  countable,
  type HistoryRequest,
  needsBreakdown,
  ofAgents,
  ofLabel,
} from './history-filter.ts';
import { withLatencies } from './read-statistics.ts';
import { addFigures, type Figures, noFigures } from './sorted-records.ts';

/** What the statistics know of some spans. */
export interface BucketSums {
  readonly figures: Figures;
  /** Buckets that also count what is no longer in the history. */
  readonly incomplete: readonly Span[];
}

/**
 * Adds up the buckets of these spans. Costs, tokens and latencies of deleted records stay in the statistics: only a bucket
 * that counts as many records as calls is exact, or one without a record. Refusals without a record cost nothing.
 * @returns null if that are more than `statisticsLabelRowsMax` rows
 */
export async function sumBuckets(
  trx: Trx,
  request: HistoryRequest,
  spans: readonly Span[],
): Promise<BucketSums | null> {
  if (spans.length === 0) return { figures: noFigures, incomplete: [] };
  const table =
    request.label === null
      ? needsBreakdown(request)
        ? 'breakdown'
        : 'statistics'
      : 'label_buckets';
  const { rows } = await sql<StoredSums>`
    with found as (
      select span.level, b.* from unnest(${spans.map(({ level }) => level)}::text[],
          ${spans.map(({ fromMs }) => new Date(fromMs))}::timestamptz[],
          ${spans.map(({ toMs }) => new Date(toMs))}::timestamptz[]) as span (level, from_at, to_at)
      cross join lateral (
        select s.bucket, s.status, s.occurred, s.recorded, s.input_tokens + s.output_tokens as tokens, s.cost_usd,
          s.cost_unknown, s.latency
        from ${sql.table(table)} s
        where ${ofAgents('s.agent_id', request)} and s.level = span.level
          and s.bucket >= span.from_at and s.bucket < span.to_at and s.bucket >= (select at from history_floor)
          and ${countable('s', request)} ${request.label === null ? sql`` : sql`and ${ofLabel(request.label)}`}
        offset 0) as b
      limit ${rowsMax + 1})
    select level, (extract(epoch from bucket) * 1000)::float8 as start_ms, count(*)::int as rows_read,
      bool_or(recorded <> occurred and status not in ('rate_limited', 'unauthorized')) as is_incomplete,
      sum(recorded)::float8 as executions, sum(tokens)::float8 as tokens, sum(cost_usd)::text as cost_usd,
      sum(cost_unknown)::float8 as cost_unknown, string_agg(latency::text, ';') as latency
    from found group by level, bucket having sum(recorded) > 0`.execute(trx);
  if (rows.reduce((sum, { rowsRead }) => sum + rowsRead, 0) > rowsMax) return null;
  const summed = await withLatencies(rows.filter(({ isIncomplete }) => !isIncomplete));
  return {
    figures: summed.reduce(addFigures, noFigures),
    incomplete: rows.filter(({ isIncomplete }) => isIncomplete).map(spanOf),
  };
}

interface StoredSums extends Omit<Figures, 'latency'>, Pick<Span, 'level'> {
  readonly startMs: number;
  readonly rowsRead: number;
  readonly isIncomplete: boolean;
  readonly latency: string;
}

function spanOf({ level, startMs }: StoredSums): Span {
  return { level, fromMs: startMs, toMs: startMs + levelMs[level] };
}

/** The ids of these spans, newest first. */
export function rangesOfSpans(spans: readonly Span[]): IdRange[] {
  return spans.map(idsOf).sort((a, b) => (a.fromId < b.fromId ? 1 : -1));
}
