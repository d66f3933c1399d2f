import { before, downTo, type IdRange } from '../../../core/history/history-range.ts';
import type { Db } from '../../../db/database.ts';
import type { ListedExecution } from '../../../engine/read/executions.ts';
import { countRecords } from '../statements/history-counts.ts';
import { openSnapshot, readRecords } from '../statements/records.ts';
import type { HistoryPage, ListRequest } from './history-page.ts';
import { defaultPace, HistoryScan, type SearchPace } from './scan-history.ts';

/**
 * Lists a page by filters that no bucket counts, such as text, latency and cost. Only a look at each record tells
 * whether it matches.
 *
 * - A page that is not full in time is returned short, with the last record that was scanned. The next page
 *   continues there, with what is left of the offset.
 * - Once the page is full, counting goes on for a while. If it does not reach the end, the total is a lower bound.
 */
export async function searchExecutions(
  db: Db,
  request: ListRequest,
  pace: SearchPace = defaultPace,
): Promise<HistoryPage> {
  const snapshot = await openSnapshot(db);
  try {
    return await searchPage(new HistoryScan(snapshot, request, pace));
  } finally {
    await snapshot.close();
  }
}

async function searchPage(scan: HistoryScan): Promise<HistoryPage> {
  const { after, offset, limit, omitsBodies } = scan.request;
  const { ranges, candidates } = await scan.candidates();
  const rows: ListedExecution[] = [];
  let rest: readonly IdRange[] =
    after === null ? ranges : ranges.flatMap((one) => before(after, one));
  let skip = offset;
  let total = 0;
  while (rest.length > 0 && rows.length < limit) {
    const batch = await scan.scan(rest, countRecords);
    if (batch === null) break;
    const matching = batch.found;
    if (matching > skip) {
      const page = { ranges: batch.scanned, skip, take: limit - rows.length, omitsBodies };
      rows.push(...(await readRecords(scan.trx, batch.request, page)));
    }
    skip = Math.max(0, skip - matching);
    total += matching;
    ({ rest } = batch);
    if (scan.isLate) break;
  }
  const [next] = rows.length < limit ? rest : [];
  const newer = after === null ? [] : ranges.flatMap((one) => downTo(after, one));
  const counted = next ? null : await count(scan, [newer, rest], candidates);
  return {
    rows,
    total: total + (counted?.matching ?? 0),
    totalIsLowerBound: counted?.isComplete !== true,
    continuesAfter: next ? { id: next.toId, skip } : null,
  };
}

/** Counts what is left on both sides of the page. Between them lies what has been scanned. */
async function count(
  scan: HistoryScan,
  sides: readonly (readonly IdRange[])[],
  candidates: number,
) {
  const { pageMs, countMs, countedMax } = scan.pace;
  const untilMs = candidates <= countedMax ? pageMs : countMs;
  let matching = 0;
  for (let rest of sides) {
    while (rest.length > 0) {
      const leftMs = untilMs - scan.elapsedMs;
      const batch = scan.fits(leftMs) ? await scan.scan(rest, countRecords, leftMs) : null;
      if (batch === null) return { matching, isComplete: false };
      matching += batch.found;
      ({ rest } = batch);
    }
  }
  return { matching, isComplete: true };
}
