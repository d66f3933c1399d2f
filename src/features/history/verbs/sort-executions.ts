import { toUnits } from '../../../core/decimal.ts';
import type { SortOrder } from '../../../core/history/sort-order.ts';
import type { Db } from '../../../db/database.ts';
import { readExecutionListRows } from '../../../engine/read/executions.ts';
import { matchesNothing } from '../statements/history-filter.ts';
import { openSnapshot } from '../statements/records.ts';
import { type SortedBatch, type SortedRecord, sortRecords } from '../statements/sorted-records.ts';
import type { HistoryPage, ListRequest } from './history-page.ts';
import { defaultPace, HistoryScan, type ReadBatch, type SearchPace } from './scan-history.ts';

/**
 * Lists a page by cost, latency or tokens, or a search by time in ascending order. No index has these orders: the end of
 * every execution would pay for it. The matches are read, newest first, and the page is the first of them in order.
 *
 * - At most `sortedMax` matches are sorted, and no more than the time for a page allows. If there are more, the page says so.
 * - The caller bounds later pages by the time of the first one: no newer execution moves the others between two pages.
 */
export interface SortRequest extends Omit<ListRequest, 'after'> {
  readonly order: SortOrder;
  /** The last record of the previous page. */
  readonly after: SortedRecord | null;
}

export interface SortedPage extends Omit<HistoryPage, 'continuesAfter'> {
  /** The number of the matches that were sorted, the newest ones; null if it is all of them. */
  readonly sortedOver: number | null;
  /** The newest match; null if there is none. */
  readonly newestId: string | null;
  /** The places of the rows. */
  readonly places: readonly SortedRecord[];
}

export async function sortExecutions(
  db: Db,
  request: SortRequest,
  pace: SearchPace = defaultPace,
): Promise<SortedPage> {
  const { order, after, ...list } = request;
  if (matchesNothing(list)) return nothing;
  const snapshot = await openSnapshot(db);
  try {
    const scan = new HistoryScan(snapshot, { ...list, after: null }, pace);
    const { first, newestId, sorted, isComplete } = await firstInOrder(scan, {
      order,
      after,
    });
    const places = first.slice(list.offset);
    const ids = places.map(({ id }) => id);
    const isCounted = list.contents === null;
    return {
      rows: await readExecutionListRows(snapshot.trx, ids, list.omitsBodies),
      ...{ places, newestId },
      total: isCounted ? await scan.count() : sorted,
      totalIsLowerBound: !(isCounted || isComplete),
      sortedOver: isComplete ? null : sorted,
    };
  } finally {
    await snapshot.close();
  }
}

const nothing: SortedPage = {
  ...{ rows: [], places: [], newestId: null },
  ...{ total: 0, totalIsLowerBound: false, sortedOver: null },
};

/** Reads the newest matches and keeps the first of them in order, up to the end of the page. */
async function firstInOrder(
  scan: HistoryScan,
  { order, after }: Pick<SortRequest, 'order' | 'after'>,
) {
  const take = scan.request.offset + scan.request.limit;
  let first: SortedRecord[] = [];
  let sorted = 0;
  let newestId: string | null = null;
  const sort: ReadBatch<SortedBatch> = (trx, request, scanned) =>
    sortRecords(trx, request, scanned, { order, after, take });
  const use = ({ matching, first: more, ...batch }: SortedBatch) => {
    sorted += matching;
    newestId ??= batch.newestId;
    first = [...first, ...more].sort(comparing(order)).slice(0, take);
    return scan.pace.sortedMax - sorted;
  };
  const rest = await scan.all(sort, use, scan.pace.sortedMax);
  return { first, newestId, sorted, isComplete: rest.length === 0 };
}

/** As PostgreSQL sorts them. */
function comparing({ isDescending }: SortOrder) {
  const sign = isDescending ? -1 : 1;
  return (a: SortedRecord, b: SortedRecord) => {
    if (a.value === null || b.value === null) {
      if (a.value !== b.value) return a.value === null ? 1 : -1;
    } else {
      const [left, right] = [toUnits(a.value) ?? 0n, toUnits(b.value) ?? 0n];
      if (left !== right) return left < right ? -sign : sign;
    }
    return a.id < b.id ? -sign : sign;
  };
}
