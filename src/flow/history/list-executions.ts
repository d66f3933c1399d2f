import { CallFailure } from '../../core/failure.ts';
import {
  before,
  crowded,
  type IdRange,
  type Piece,
  rangesOf,
  sparse,
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

/** A page of a history, newest first, and how many records match in all, from one snapshot. */

export interface ListRequest extends HistoryRequest {
  readonly range: IdRange;
  /** Whether the rows come without variables and output. */
  readonly omitsBodies?: boolean;
  readonly limit: number;
  readonly offset: number;
  /** Only what comes after this execution in the order of the list. */
  readonly after: string | null;
  /** How many records are read one by one at most, where no bucket counts what is asked for. */
  readonly recordsReadMax: number;
}

export interface HistoryPage {
  readonly rows: ExecutionListRow[];
  readonly total: number;
}

export function listExecutions(db: Db, question: ListRequest): Promise<HistoryPage> {
  return inSnapshot(db, (trx) => readPage(trx, question));
}

/** The same in a snapshot that is the caller's. */
export function readPage(trx: Trx, question: ListRequest): Promise<HistoryPage> {
  if (matchesNothing(question)) return Promise.resolve({ rows: [], total: 0 });
  if (question.contents !== null) return pageByReading(trx, question);
  return isNewest(question) ? newestPage(trx, question) : pageByBuckets(trx, question);
}

/**
 * The records of a page, whole, as many at a time as are read at once. Beyond the first of them not from its snapshot, since
 * nobody may keep that open by taking them slowly: ended records stay as they are, a run may have ended meanwhile, and what
 * was deleted meanwhile is left out, as it would be from the same page a moment later.
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

/** Whether what is asked for is the newest of all there is, which are those that are watched while they run. */
function isNewest(question: ListRequest): boolean {
  const { includeProcessing, offset, source } = question;
  return includeProcessing && offset === 0 && source === null && !needsBreakdown(question);
}

/** Where nothing is passed over there is nothing to look for: however many wait, they are only counted. */
async function newestPage(trx: Trx, question: ListRequest): Promise<HistoryPage> {
  const { range, after, limit } = question;
  const ended = await countPieces(trx, { ...question, includeProcessing: false }, range);
  const underWay = await countQueued(trx, question, range);
  const toId = after !== null && after < range.toId ? after : range.toId;
  const { omitsBodies } = question;
  const page = { ranges: [{ ...range, toId }], skip: 0, take: limit, omitsBodies };
  return {
    rows: await readRecords(trx, question, page),
    total: matchingIn(ended) + underWay,
  };
}

async function pageByBuckets(trx: Trx, question: ListRequest): Promise<HistoryPage> {
  const { range, after, offset, limit, omitsBodies } = question;
  const pieces = await countPieces(trx, question, range);
  const rest = after === null ? pieces : await cutAt(trx, question, pieces, after);
  const window = await breakDown(
    trx,
    question,
    windowOf(rest, offset, limit),
    limit,
    (one, level) => crowded(one, limit, level),
  );
  const { skip } = window;
  const page = { ranges: rangesOf(window.pieces), skip, take: limit, omitsBodies };
  return { rows: await readRecords(trx, question, page), total: matchingIn(pieces) };
}

/** What of the pieces comes after a record in the order of the list. Only the one that the record lies in is counted anew. */
async function cutAt(
  trx: Trx,
  question: ListRequest,
  pieces: readonly Piece[],
  after: string,
): Promise<readonly Piece[]> {
  const whole = pieces.filter(({ toId }) => toId <= after);
  const cut = pieces.find(({ fromId, toId }) => fromId < after && after < toId);
  if (cut === undefined) return whole;
  return [...(await countPieces(trx, question, { fromId: cut.fromId, toId: after })), ...whole];
}

/** Buckets say how many records would have to be looked at, before any is. */
async function pageByReading(trx: Trx, question: ListRequest): Promise<HistoryPage> {
  const { range, after, offset, limit, omitsBodies } = question;
  const countable = { ...question, contents: null };
  const pieces = await countPieces(trx, countable, range);
  const candidates = matchingIn(pieces);
  if (candidates > question.recordsReadMax) throw tooMany(candidates, question.recordsReadMax);
  const all = windowOf(pieces, 0, candidates);
  const ranges = rangesOf((await breakDown(trx, countable, all, candidates, sparse)).pieces);
  const rest = after === null ? ranges : ranges.flatMap((one) => before(after, one));
  const page = { ranges: rest, skip: offset, take: limit, omitsBodies };
  try {
    const total = await countRecords(trx, question, ranges);
    return { rows: total === 0 ? [] : await readRecords(trx, question, page), total };
  } catch (error) {
    // However often the same is asked, the same records are as long.
    throw isStatementTimeout(error) ? tooLong(candidates) : error;
  }
}

function matchingIn(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, piece) => sum + piece.matching, 0);
}

function tooMany(candidates: number, max: number): CallFailure {
  return new CallFailure(
    'INVALID_REQUEST',
    `${candidates} records would have to be read to find what matches; at most ${max} are. ${advice}`,
  );
}

function tooLong(candidates: number): CallFailure {
  return new CallFailure(
    'INVALID_REQUEST',
    `${candidates} records would have to be read to find what matches, and that takes too long. ${advice}`,
  );
}

const advice =
  'Narrow it down with dates, "status", "source", "promptVersionId", "model", "apiKeyId" or "errorCode".';
