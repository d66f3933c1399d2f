import type { ExecutionSummary } from '../../../core/execution/execution-fields.ts';
import { crowded, type Piece, rangesOf, windowOf } from '../../../core/history/history-range.ts';
import { idAfter } from '../../../core/id.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { inSnapshot } from '../../../db/in-snapshot.ts';
import { type ListedExecution, readExecutionListRows } from '../../../engine/read/executions.ts';
import { countQueued } from '../statements/history-counts.ts';
import { matchesNothing, needsBreakdown } from '../statements/history-filter.ts';
import { readRecords } from '../statements/records.ts';
import { breakDown, countPieces } from './count-history.ts';
import type { HistoryPage, ListRequest } from './history-page.ts';
import { searchExecutions } from './search-executions.ts';

/** Lists a page of a history by time, with the total number of matches, from one snapshot. */

export async function listExecutions(db: Db, request: ListRequest): Promise<HistoryPage> {
  if (matchesNothing(request)) return exactPage([], 0);
  if (request.contents !== null) return searchExecutions(db, request);
  return inSnapshot(db, (trx) => readPage(trx, request));
}

/** In a snapshot of the caller, without filters on contents. */
export function readPage(trx: Trx, request: ListRequest): Promise<HistoryPage> {
  if (request.isAscending) return oldestPage(trx, request);
  return isNewest(request) ? newestPage(trx, request) : pageByBuckets(trx, request);
}

function exactPage(rows: ListedExecution[], total: number): HistoryPage {
  return { rows, total, totalIsLowerBound: false, continuesAfter: null };
}

/**
 * The complete records of a page, in batches. Only the first batch comes from the page's snapshot, because a slow reader
 * must not keep a snapshot open. Records do not change; an execution may have ended meanwhile, and a record that was
 * deleted meanwhile is left out.
 */
export async function* wholeRecords(
  readRows: (ids: readonly string[]) => Promise<ListedExecution[]>,
  rows: readonly ListedExecution[],
): AsyncGenerator<ExecutionSummary[], void, undefined> {
  for (let read = rows; read.length > 0; ) {
    yield read.filter(({ fits }) => fits);
    const left = read.filter(({ fits }) => !fits).map(({ id }) => id);
    if (left.length === 0) return;
    read = await readRows(left);
  }
}

/** Whether the request is for the newest page without filters, which users watch while executions run. */
function isNewest(request: ListRequest): boolean {
  const { includeProcessing, offset, status, source, playground } = request;
  const isFiltered = (status ?? source) !== null || playground === true || needsBreakdown(request);
  return includeProcessing && offset === 0 && !isFiltered;
}

/** Nothing is skipped, so queued executions only need a count. */
async function newestPage(trx: Trx, request: ListRequest): Promise<HistoryPage> {
  const { range, after, limit } = request;
  const ended = await countPieces(trx, { ...request, includeProcessing: false }, range);
  const live = await countQueued(trx, request, range);
  const toId = after !== null && after < range.toId ? after : range.toId;
  const { omitsBodies } = request;
  const page = { ranges: [{ ...range, toId }], skip: 0, take: limit, omitsBodies };
  return exactPage(await readRecords(trx, request, page), matchingIn(ended) + live);
}

async function pageByBuckets(trx: Trx, request: ListRequest): Promise<HistoryPage> {
  const { range, after } = request;
  const pieces = await countPieces(trx, request, range);
  const rest = after === null ? pieces : await cutAt(trx, request, pieces, after);
  return exactPage(await readPieces(trx, request, rest), matchingIn(pieces));
}

/** The page of these pieces. */
async function readPieces(trx: Trx, request: ListRequest, rest: readonly Piece[]) {
  const { offset, limit, omitsBodies } = request;
  const window = await breakDown(trx, request, windowOf(rest, offset, limit), limit, (one, level) =>
    crowded(one, limit, level),
  );
  const { skip } = window;
  const page = { ranges: rangesOf(window.pieces), skip, take: limit, omitsBodies };
  return readRecords(trx, request, page);
}

/** The same records as on the page of the newest that begins as far from the end, in the opposite order. */
async function oldestPage(trx: Trx, request: ListRequest): Promise<HistoryPage> {
  const { range, after, offset, limit, omitsBodies = false } = request;
  const pieces = await countPieces(trx, request, range);
  const fromId = after === null || after < range.fromId ? range.fromId : idAfter(after);
  const isCut = fromId !== range.fromId;
  const rest = isCut ? await countPieces(trx, request, { ...range, fromId }) : pieces;
  const end = Math.max(0, matchingIn(rest) - offset);
  const start = Math.max(0, end - limit);
  const page = { ...request, offset: start, limit: end - start, omitsBodies: omitsBodies || true };
  const rows = (await readPieces(trx, page, rest)).reverse();
  if (omitsBodies) return exactPage(rows, matchingIn(pieces));
  // Of long records, those that come first have their bodies.
  const ids = rows.map(({ id }) => id);
  return exactPage(await readExecutionListRows(trx, ids), matchingIn(pieces));
}

/** The pieces after a record, in list order. Only the piece that contains the record is counted again. */
async function cutAt(
  trx: Trx,
  request: ListRequest,
  pieces: readonly Piece[],
  after: string,
): Promise<readonly Piece[]> {
  const uncut = pieces.filter(({ toId }) => toId <= after);
  const cut = pieces.find(({ fromId, toId }) => fromId < after && after < toId);
  if (cut === undefined) return uncut;
  return [...(await countPieces(trx, request, { fromId: cut.fromId, toId: after })), ...uncut];
}

function matchingIn(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, piece) => sum + piece.matching, 0);
}
