import { newestFirst, readSort, type Sort } from '../../../core/history/sort-order.ts';
import { percentile } from '../../../core/history/statistics.ts';
import { uuid7Time, uuidFloor } from '../../../core/id.ts';
import type { Db } from '../../../db/database.ts';
import { isIndexed } from '../statements/history-filter.ts';
import type { ListRequest } from '../verbs/history-page.ts';
import { listExecutions } from '../verbs/list-executions.ts';
import { sortExecutions } from '../verbs/sort-executions.ts';
import { type HistoryFigures, sumHistory } from '../verbs/sum-history.ts';
import {
  type HistoryQuery,
  readHistory,
  readSortedStart,
  readStart,
  writeCursor,
  writeSortedCursor,
} from './history-query.ts';

/** A page of a list in any order, with totals if they are asked for. */

export interface ListQuery extends HistoryQuery {
  readonly limit?: number;
  readonly offset?: number;
  readonly cursor?: string;
  readonly sort?: Sort;
  readonly totals?: boolean;
  readonly preview?: boolean;
}

export interface ListPageRequest extends Omit<ListRequest, 'after' | 'offset'> {
  readonly query: ListQuery;
}

/** Reads a query, but for where its page starts. @param agentIds the agents that the caller can see */
export function readListQuery(query: ListQuery, agentIds: readonly string[]) {
  const omitted = query.preview === true ? ('preview' as const) : true;
  const omitsBodies = query.omit === 'bodies' && omitted;
  return { ...readHistory(query, agentIds), omitsBodies, query };
}

/** Whether the page looks at records one by one. */
export function readsRecords({ query, ...list }: Omit<ListPageRequest, 'limit'>): boolean {
  return (
    list.contents !== null ||
    !isByTime({ ...list, query }) ||
    (query.totals === true && isIndexed(list))
  );
}

/** Time has an index in both directions, but a search looks at the newest first. */
function isByTime({ query, contents }: Pick<ListPageRequest, 'query' | 'contents'>): boolean {
  const { by, isDescending } = orderOf(query);
  return by === 'executedAt' && (isDescending || contents === null);
}

const orderOf = ({ sort }: ListQuery) => (sort === undefined ? newestFirst : readSort(sort));

/** The records to show, and what the page has beside them. */
export async function readListPage(db: Db, list: ListPageRequest) {
  const { shown, total, rest } = await (isByTime(list)
    ? pageByTime(db, list)
    : pageByValue(db, list));
  if (list.query.totals !== true) return { shown, rest };
  const totals = totalsWire(await sumHistory(db, { ...list, after: null, offset: 0 }), total);
  return { shown, rest: { ...rest, totals } };
}

/** A page that took too long to fill is short and says how far it searched. */
async function pageByTime(db: Db, { query, ...list }: ListPageRequest) {
  const { limit } = list;
  const { isDescending } = orderOf(query);
  // One row more than the page shows whether another page follows.
  const page = { ...list, ...readStart(query), limit: limit + 1, isAscending: !isDescending };
  const { rows, total, totalIsLowerBound, continuesAfter } = await listExecutions(db, page);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  const next = last ? { id: last.id, skip: 0 } : continuesAfter;
  const rest = {
    pagination: paginationOf(query, { limit, total, hasMore: next !== null }),
    ...(totalIsLowerBound && { totalIsLowerBound }),
    ...(next && { nextCursor: writeCursor(next) }),
    ...(next && !last && { searchedTo: new Date(uuid7Time(next.id)).toISOString() }),
  };
  return { shown: rows.slice(0, limit), total, rest };
}

async function pageByValue(db: Db, { query, range, ...list }: ListPageRequest) {
  const { sort = '-executedAt' } = query;
  const { limit } = list;
  const { untilMs, ...start } = readSortedStart(query);
  const end = untilMs === null ? range.toId : uuidFloor(untilMs);
  const page = await sortExecutions(db, {
    ...list,
    ...start,
    order: orderOf(query),
    range: { ...range, toId: end < range.toId ? end : range.toId },
    limit: limit + 1,
  });
  const { rows, places, newestId, total, totalIsLowerBound, sortedOver } = page;
  const last = rows.length > limit ? places[limit - 1] : undefined;
  const rest = {
    pagination: paginationOf(query, { limit, total, hasMore: last !== undefined }),
    ...(totalIsLowerBound && { totalIsLowerBound }),
    ...(last &&
      newestId !== null && {
        nextCursor: writeSortedCursor(sort, last, untilMs ?? uuid7Time(newestId) + 1),
      }),
    ...(sortedOver !== null && { sortedOver }),
  };
  return { shown: rows.slice(0, limit), total, rest };
}

function paginationOf(
  { offset = 0 }: ListQuery,
  {
    limit,
    total,
    hasMore,
  }: { readonly limit: number; readonly total: number; readonly hasMore: boolean },
) {
  return { limit, offset, total, hasMore };
}

function totalsWire(figures: HistoryFigures, total: number) {
  const { costUsd, costUnknown, tokens, latency, executions, isComplete } = figures;
  return {
    executions: total,
    costUSD: Number(costUsd),
    costKnown: costUnknown === 0,
    tokensUsed: tokens,
    p50Ms: percentile(latency, 0.5),
    p95Ms: percentile(latency, 0.95),
    percentilesAreApproximate: true,
    ...(!isComplete && { summedOver: executions }),
  };
}
