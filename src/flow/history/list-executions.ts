import { type CallFailure, invalidRequest } from '../../core/failure.ts';
import {
  before,
  crowded,
  type IdRange,
  type Piece,
  rangesOf,
  sparsePieces,
  windowOf,
} from '../../core/history/history-range.ts';
import type { Db, Trx } from '../../store/connection/database.ts';
import { isStatementTimeout } from '../../store/connection/database-error.ts';
import {
  type ExecutionListRow,
  type ExecutionRow,
  readExecutionListRows,
} from '../../store/execution/executions.ts';
import { countQueued, countRecords } from '../../store/history/history-counts.ts';
import {
  type HistoryRequest,
  matchesNothing,
  needsBreakdown,
} from '../../store/history/history-filter.ts';
import { inSnapshot, readRecords } from '../../store/history/records.ts';
import { breakDown, countPieces } from './count-history.ts';

/** Lists a page of a history, newest first, with the total number of matches, from one snapshot. */

export interface ListRequest extends HistoryRequest {
  readonly range: IdRange;
  /** Leaves out variables and output. */
  readonly omitsBodies?: boolean;
  readonly limit: number;
  readonly offset: number;
  /** The page starts after this execution, in list order. */
  readonly after: string | null;
  /** The limit on records read one by one, for filters that no bucket counts. */
  readonly recordsReadMax: number;
}

export interface HistoryPage {
  readonly rows: ExecutionListRow[];
  readonly total: number;
}

export function listExecutions(db: Db, request: ListRequest): Promise<HistoryPage> {
  return inSnapshot(db, (trx) => readPage(trx, request));
}

/** In a snapshot of the caller. */
export function readPage(trx: Trx, request: ListRequest): Promise<HistoryPage> {
  if (matchesNothing(request)) return Promise.resolve({ rows: [], total: 0 });
  if (request.contents !== null) return pageByReading(trx, request);
  return isNewest(request) ? newestPage(trx, request) : pageByBuckets(trx, request);
}

/**
 * The complete records of a page, in batches. Only the first batch comes from the page's snapshot, because a slow reader
 * must not keep a snapshot open. Records do not change; an execution may have ended meanwhile, and a record that was
 * deleted meanwhile is left out.
 */
export async function* wholeRecords(
  db: Db,
  rows: readonly ExecutionListRow[],
): AsyncGenerator<ExecutionRow[], void, undefined> {
  for (let read = rows; read.length > 0; ) {
    yield read.filter(({ fits }) => fits);
    const left = read.filter(({ fits }) => !fits).map(({ id }) => id);
    if (left.length === 0) return;
    read = await readExecutionListRows(db, left);
  }
}

/** Whether the request is for the newest page without filters, which users watch while executions run. */
function isNewest(request: ListRequest): boolean {
  const { includeProcessing, offset, source } = request;
  return includeProcessing && offset === 0 && source === null && !needsBreakdown(request);
}

/** Nothing is skipped, so queued executions only need a count. */
async function newestPage(trx: Trx, request: ListRequest): Promise<HistoryPage> {
  const { range, after, limit } = request;
  const ended = await countPieces(trx, { ...request, includeProcessing: false }, range);
  const live = await countQueued(trx, request, range);
  const toId = after !== null && after < range.toId ? after : range.toId;
  const { omitsBodies } = request;
  const page = { ranges: [{ ...range, toId }], skip: 0, take: limit, omitsBodies };
  return {
    rows: await readRecords(trx, request, page),
    total: matchingIn(ended) + live,
  };
}

async function pageByBuckets(trx: Trx, request: ListRequest): Promise<HistoryPage> {
  const { range, after, offset, limit, omitsBodies } = request;
  const pieces = await countPieces(trx, request, range);
  const rest = after === null ? pieces : await cutAt(trx, request, pieces, after);
  const window = await breakDown(trx, request, windowOf(rest, offset, limit), limit, (one, level) =>
    crowded(one, limit, level),
  );
  const { skip } = window;
  const page = { ranges: rangesOf(window.pieces), skip, take: limit, omitsBodies };
  return { rows: await readRecords(trx, request, page), total: matchingIn(pieces) };
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

/** Buckets tell how many records must be read before any is read. */
async function pageByReading(trx: Trx, request: ListRequest): Promise<HistoryPage> {
  const { range, after, offset, limit, omitsBodies } = request;
  const countable = { ...request, contents: null };
  const pieces = await countPieces(trx, countable, range);
  const candidates = matchingIn(pieces);
  if (candidates > request.recordsReadMax) throw tooMany(candidates, request.recordsReadMax);
  const all = windowOf(pieces, 0, candidates);
  const ranges = rangesOf((await breakDown(trx, countable, all, candidates, sparsePieces)).pieces);
  const rest = after === null ? ranges : ranges.flatMap((one) => before(after, one));
  const page = { ranges: rest, skip: offset, take: limit, omitsBodies };
  try {
    const total = await countRecords(trx, request, ranges);
    return { rows: total === 0 ? [] : await readRecords(trx, request, page), total };
  } catch (error) {
    // A retry would take as long.
    throw isStatementTimeout(error) ? tooLong(candidates) : error;
  }
}

function matchingIn(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, piece) => sum + piece.matching, 0);
}

function tooMany(candidates: number, max: number): CallFailure {
  return invalidRequest(
    `The search must read ${candidates} records, and the limit is ${max}. ${advice}`,
  );
}

function tooLong(candidates: number): CallFailure {
  return invalidRequest(
    `The search must read ${candidates} records, and that takes too long. ${advice}`,
  );
}

const advice =
  'Narrow the search with dates, "status", "source", "promptVersionId", "model", "apiKeyId" or "errorCode".';
