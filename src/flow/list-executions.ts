import { CallFailure } from '../core/failure.ts';
import { crowded, type IdRange, type Piece, rangesOf, sparse, windowOf } from '../core/history.ts';
import type { Db, Trx } from '../store/db.ts';
import type { ExecutionRow } from '../store/executions.ts';
import * as store from '../store/history.ts';
import { breakDown, countPieces } from './count-history.ts';

/** A page of a history, newest first, and how many records match in all, from one snapshot. */

export interface ListQuestion extends store.HistoryQuestion {
  readonly range: IdRange;
  readonly limit: number;
  readonly offset: number;
  /** Only what comes after this execution in the order of the list. */
  readonly after: string | null;
  /** How many records are read one by one at most, where no bucket counts what is asked for. */
  readonly recordsReadMax: number;
}

export interface HistoryPage {
  readonly rows: ExecutionRow[];
  readonly total: number;
}

export function listExecutions(db: Db, question: ListQuestion): Promise<HistoryPage> {
  return store.inSnapshot(db, (trx) => readPage(trx, question));
}

/** The same in a snapshot that is the caller's. */
export function readPage(trx: Trx, question: ListQuestion): Promise<HistoryPage> {
  return question.contents === null ? pageByBuckets(trx, question) : pageByReading(trx, question);
}

async function pageByBuckets(trx: Trx, question: ListQuestion): Promise<HistoryPage> {
  const { range, after, offset, limit } = question;
  const pieces = await countPieces(trx, question, range);
  const rest =
    after === null || after >= range.toId
      ? pieces
      : await countPieces(trx, question, { ...range, toId: after });
  const window = await breakDown(
    trx,
    question,
    windowOf(rest, offset, limit),
    limit,
    (one, level) => crowded(one, limit, level),
  );
  const page = { ranges: rangesOf(window.pieces), skip: window.skip, take: limit };
  return { rows: await store.readRecords(trx, question, page), total: matchingIn(pieces) };
}

/** Buckets say how many records would have to be looked at, before any is. */
async function pageByReading(trx: Trx, question: ListQuestion): Promise<HistoryPage> {
  const { range, after, offset, limit } = question;
  const countable = { ...question, contents: null };
  const pieces = await countPieces(trx, countable, range);
  const candidates = matchingIn(pieces);
  if (candidates > question.recordsReadMax) throw tooMany(candidates, question.recordsReadMax);
  const all = windowOf(pieces, 0, candidates);
  const ranges = rangesOf((await breakDown(trx, countable, all, candidates, sparse)).pieces);
  const total = await store.countRecords(trx, question, ranges);
  const rest = after === null ? ranges : ranges.flatMap((one) => before(after, one));
  const page = { ranges: rest, skip: offset, take: limit };
  return { rows: await store.readRecords(trx, question, page), total };
}

function matchingIn(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, piece) => sum + piece.matching, 0);
}

/** What of a range lies before an execution in time, which is after it in the list. */
function before(executionId: string, range: IdRange): IdRange[] {
  if (range.toId <= executionId) return [range];
  return range.fromId < executionId ? [{ ...range, toId: executionId }] : [];
}

function tooMany(candidates: number, max: number): CallFailure {
  return new CallFailure(
    'INVALID_REQUEST',
    `${candidates} records would have to be read to find what matches; at most ${max} are. Narrow it down with dates, "status", "source", "promptVersionId", "model", "apiKeyId" or "errorCode".`,
  );
}
