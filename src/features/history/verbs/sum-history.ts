import { cover, type IdRange, type Span, spansOf } from '../../../core/history/history-range.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { rangesOfSpans, sumBuckets } from '../statements/bucket-sums.ts';
import { isIndexed, matchesNothing, needsBreakdown } from '../statements/history-filter.ts';
import { openSnapshot } from '../statements/records.ts';
import { addFigures, type Figures, noFigures, sumRecords } from '../statements/sorted-records.ts';
import type { ListRequest } from './history-page.ts';
import { defaultPace, HistoryScan, type SearchPace } from './scan-history.ts';

/**
 * What all matches of a list cost and took together, whatever its page. Executions that have not ended add nothing.
 *
 * The statistics have it, except at the edges of the range and where records were deleted: these are read. Filters that the
 * statistics do not know read every match. At most `sortedMax` records are read, for no longer than a page may take: if
 * there are more, the figures are those of the newest.
 */
export interface HistoryFigures extends Figures {
  readonly isComplete: boolean;
}

export async function sumHistory(
  db: Db,
  request: ListRequest,
  pace: SearchPace = defaultPace,
): Promise<HistoryFigures> {
  if (matchesNothing(request)) return { ...noFigures, isComplete: true };
  const snapshot = await openSnapshot(db);
  try {
    const ended = { ...request, includeProcessing: false, after: null };
    const scan = new HistoryScan(snapshot, ended, pace);
    const sums = await sumKnown(snapshot.trx, ended);
    let figures = sums?.known ?? noFigures;
    let recordsLeft = pace.sortedMax;
    const use = (found: Figures) => {
      figures = addFigures(figures, found);
      recordsLeft -= found.executions;
      return recordsLeft;
    };
    const rest = await (sums === null
      ? scan.all(sumRecords, use, pace.sortedMax)
      : scan.each(sums.unknown, sumRecords, use, pace.sortedMax));
    return { ...figures, isComplete: rest.length === 0 };
  } finally {
    await snapshot.close();
  }
}

/** The sums of the statistics, and the ranges whose records must be read. Null if all of them must. */
async function sumKnown(
  trx: Trx,
  request: ListRequest,
): Promise<{ readonly known: Figures; readonly unknown: readonly IdRange[] } | null> {
  if (request.contents !== null || isIndexed(request)) return null;
  // Never minutes: those of quiet hours are rolled up.
  const finer = needsBreakdown(request) ? 'quarter' : 'hour';
  const { spans, cuts } = cover(request.range, ['day', finer]);
  const sums = await sumBuckets(trx, request, spans);
  if (sums === null) return null;
  const isDay = ({ level }: Span) => level === 'day';
  const parts = sums.incomplete
    .filter(isDay)
    .flatMap(({ fromMs, toMs }) => spansOf(fromMs, toMs, [finer]));
  const finerSums = await sumBuckets(trx, request, parts);
  if (finerSums === null) return null;
  const incomplete = [...sums.incomplete.filter((one) => !isDay(one)), ...finerSums.incomplete];
  const unknown = [...cuts, ...rangesOfSpans(incomplete)];
  return {
    known: addFigures(sums.figures, finerSums.figures),
    unknown: unknown.sort((a, b) => (a.fromId < b.fromId ? 1 : -1)),
  };
}
