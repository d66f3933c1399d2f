import {
  before,
  downTo,
  type IdRange,
  lengthy,
  type Piece,
  rangesOf,
  readInOneGo,
  sparse,
  windowOf,
} from '../../core/history/history-range.ts';
import type { Db, Trx } from '../../store/connection/database.ts';
import { isStatementTimeout } from '../../store/connection/database-error.ts';
import type { ExecutionDetailRow } from '../../store/execution/executions.ts';
import { countRecords } from '../../store/history/history-counts.ts';
import type { HistoryRequest } from '../../store/history/history-filter.ts';
import { findRecord, openSnapshot, readFullRecords } from '../../store/history/records.ts';
import { breakDown, countPieces } from './count-history.ts';

/**
 * All of a history that matches, newest first and from one snapshot, in batches that are small enough to be held in
 * memory. Nothing is read ahead of whoever takes the batches.
 */

export interface ExportRequest extends HistoryRequest {
  readonly range: IdRange;
  /** Only what comes after this execution: where an export before this one was broken off. */
  readonly after: string | null;
  /** How long the snapshot may be kept open, in milliseconds. */
  readonly msMax: number;
}

/** Beyond its time an export is broken off: an old snapshot keeps the database from tidying up. */
export class ExportTooSlow extends Error {}

export async function* exportExecutions(
  db: Db,
  question: ExportRequest,
): AsyncGenerator<ExecutionDetailRow[], void, undefined> {
  const endsAtMs = performance.now() + question.msMax;
  const snapshot = await openSnapshot(db);
  const read = reader(snapshot, question);
  try {
    for (const ranges of inGroups(await piecesOf(snapshot.trx, question))) {
      for (let rest = ranges; rest.length > 0; ) {
        if (performance.now() > endsAtMs) throw new ExportTooSlow();
        const { rows, left } = await read(rest);
        if (rows.length > 0) yield rows;
        rest = left;
      }
    }
  } finally {
    await snapshot.close();
  }
}

interface Batch {
  readonly rows: ExecutionDetailRow[];
  /** What has not been looked at. */
  readonly left: IdRange[];
}

/**
 * Reads the next batch of what is left. Nothing tells how long the records are that must be looked at: where the database
 * gives that up, half as many are looked at in one go from then on.
 */
function reader(
  { trx, recover }: Awaited<ReturnType<typeof openSnapshot>>,
  question: ExportRequest,
): (ranges: IdRange[]) => Promise<Batch> {
  const countable = { ...question, contents: null };
  let lookedMax = Number.POSITIVE_INFINITY;

  async function read(ranges: IdRange[]): Promise<Batch> {
    const end = Number.isFinite(lookedMax) ? await endOf(ranges) : null;
    const looked = end === null ? ranges : ranges.flatMap((range) => downTo(end, range));
    const page = { ranges: looked, take: rowsMax, bytesMax };
    const rows = await readFullRecords(trx, question, page);
    const last = rows.at(-1)?.id ?? end;
    return { rows, left: last === null ? [] : ranges.flatMap((range) => before(last, range)) };
  }

  /** The last of as many as are looked at. */
  function endOf(ranges: IdRange[]): Promise<string | null> {
    return findRecord(trx, countable, { ranges, skip: lookedMax - 1 });
  }

  return async (ranges) => {
    for (;;) {
      try {
        return await read(ranges);
      } catch (error) {
        if (!isStatementTimeout(error)) throw error;
        await recover();
        const looked = Math.min(lookedMax, await countRecords(trx, countable, ranges));
        if (looked <= 1) throw error;
        lookedMax = Math.floor(looked / 2);
      }
    }
  };
}

const rowsMax = 200;
/** A batch ends with the record that goes beyond it. */
const bytesMax = 1_000_000;

/** Where something matches, in stretches that one statement can look through in its time. */
async function piecesOf(trx: Trx, question: ExportRequest): Promise<Piece[]> {
  const { range, after, contents } = question;
  const rest = after !== null && after < range.toId ? { ...range, toId: after } : range;
  const countable = { ...question, contents: null };
  const pieces = await countPieces(trx, countable, rest);
  const matching = pieces.reduce((sum, piece) => sum + piece.matching, 0);
  const all = windowOf(pieces, 0, matching);
  const worth = contents === null ? sparse : lengthy;
  return (await breakDown(trx, countable, all, matching, worth)).pieces;
}

/** Short pieces are read together, or each record of a rare kind would be a statement of its own. */
function inGroups(pieces: readonly Piece[]): IdRange[][] {
  const groups: IdRange[][] = [];
  let [group, read]: [Piece[], number] = [[], 0];
  for (const piece of pieces) {
    if (group.length > 0 && (group.length >= piecesMax || read + piece.all > readInOneGo)) {
      groups.push(rangesOf(group));
      [group, read] = [[], 0];
    }
    group.push(piece);
    read += piece.all;
  }
  return group.length > 0 ? [...groups, rangesOf(group)] : groups;
}

const piecesMax = 200;
