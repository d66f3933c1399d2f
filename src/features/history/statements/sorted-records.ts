import { addDecimals } from '../../../core/decimal.ts';
import type { IdRange } from '../../../core/history/history-range.ts';
import type { SortOrder } from '../../../core/history/sort-order.ts';
import type { Trx } from '../../../db/database.ts';
import { type Sql, sql } from '../../../db/sql.ts';
import { endedMatches, type HistoryRequest, processingMatches } from './history-filter.ts';

/** Sorts and sums up records by reading each of them, in the snapshot of the given transaction. */

/** A record by its place in an order. */
export interface SortedRecord {
  readonly id: string;
  /** A decimal; null for an execution that has not ended. */
  readonly value: string | null;
}

export interface SortedBatch {
  /** The number of matches. */
  readonly matching: number;
  readonly newestId: string | null;
  /** The first of them, in order. */
  readonly first: readonly SortedRecord[];
}

/** Sorts the matches of these ranges: the first `take` of those after `after`. */
export async function sortRecords(
  trx: Trx,
  request: HistoryRequest,
  ranges: readonly IdRange[],
  page: { readonly order: SortOrder; readonly after: SortedRecord | null; readonly take: number },
): Promise<SortedBatch> {
  const { order, after, take } = page;
  const direction = order.isDescending ? sql`desc` : sql`asc`;
  const { rows } = await sql<
    { matching: number; newestId: string | null } & (SortedRecord | { id: null })
  >`
    with matches as materialized (${matchesOf(request, ranges, order)})
    select (select count(*) from matches)::int as matching,
      (select id from matches order by id desc limit 1) as newest_id, f.id, f.value::text as value
    from (select) as always left join (
      select id, value from matches where ${after === null ? sql`true` : isAfter(after, order)}
      order by value ${direction} nulls last, id ${direction} limit ${take}) as f on true
    order by f.value ${direction} nulls last, f.id ${direction}`.execute(trx);
  const { matching = 0, newestId = null } = rows[0] ?? {};
  const first = rows.flatMap((row) => (row.id === null ? [] : { id: row.id, value: row.value }));
  return { matching, newestId, first };
}

/** SQL: the id and the value of each match. */
function matchesOf(request: HistoryRequest, ranges: readonly IdRange[], { by }: SortOrder): Sql {
  const ended = endedMatches(request, ranges, sql`e.id, ${valueBy[by]} as value`);
  if (!request.includeProcessing) return ended;
  const liveValue = by === 'executedAt' ? valueBy[by] : sql`null::numeric`;
  return sql`${ended} union all ${processingMatches(request, ranges, sql`e.id, ${liveValue}`)}`;
}

const valueBy: Record<SortOrder['by'], Sql> = {
  // Its order is that of the ids.
  executedAt: sql`0::numeric`,
  costUSD: sql`e.cost_usd`,
  latencyMs: sql`e.latency_ms::numeric`,
  tokensUsed: sql`(e.input_tokens::bigint + e.output_tokens)::numeric`,
};

function isAfter({ id, value }: SortedRecord, { isDescending }: SortOrder): Sql {
  const beyond = sql.raw(isDescending ? '<' : '>');
  if (value === null) return sql`value is null and id ${beyond} ${id}::uuid`;
  return sql`((value, id) ${beyond} (${value}::numeric, ${id}::uuid) or value is null)`;
}

/** What records cost and took together. */
export interface Figures {
  readonly executions: number;
  readonly costUsd: string;
  readonly costUnknown: number;
  readonly tokens: number;
  /** The number of latencies per bin. */
  readonly latency: readonly number[];
}

export const noFigures: Figures = {
  ...{ executions: 0, costUsd: '0', costUnknown: 0, tokens: 0 },
  latency: [],
};

export function addFigures(a: Figures, b: Figures): Figures {
  const bins = Math.max(a.latency.length, b.latency.length);
  return {
    executions: a.executions + b.executions,
    costUsd: addDecimals(a.costUsd, b.costUsd),
    costUnknown: a.costUnknown + b.costUnknown,
    tokens: a.tokens + b.tokens,
    latency: Array.from(
      { length: bins },
      (_, bin) => (a.latency[bin] ?? 0) + (b.latency[bin] ?? 0),
    ),
  };
}

/** Sums up the matches of these ranges that have ended. */
export async function sumRecords(
  trx: Trx,
  request: HistoryRequest,
  ranges: readonly IdRange[],
): Promise<Figures> {
  const columns = sql`e.cost_usd, e.cost_known, e.input_tokens::bigint + e.output_tokens as tokens,
    case when e.started_at is not null then latency_bin(e.latency_ms) end as bin`;
  // As in the statistics, an execution that never started has no latency.
  const { rows } = await sql<Omit<Figures, 'latency'> & { bin: number | null }>`
    select bin, count(*)::int as executions, sum(cost_usd)::text as cost_usd,
      (count(*) filter (where not cost_known))::int as cost_unknown, sum(tokens)::float8 as tokens
    from (${endedMatches(request, ranges, columns)}) as matches
    group by bin`.execute(trx);
  return rows.reduce<Figures>(
    (sum, { bin, ...figures }) =>
      addFigures(sum, {
        ...figures,
        latency: bin === null ? [] : latencyIn(bin, figures.executions),
      }),
    noFigures,
  );
}

function latencyIn(bin: number, n: number): number[] {
  return [...Array<number>(bin).fill(0), n];
}
