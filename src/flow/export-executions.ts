import {
  before,
  type IdRange,
  lengthy,
  type Piece,
  rangesOf,
  readInOneGo,
  sparse,
  windowOf,
} from '../core/history.ts';
import type { Db, Trx } from '../store/db.ts';
import type { ExecutionDetailRow } from '../store/executions.ts';
import { openSnapshot, readWholeRecords } from '../store/history.ts';
import type { HistoryQuestion } from '../store/history-filter.ts';
import { breakDown, countPieces } from './count-history.ts';

/**
 * All of a history that matches, newest first and from one snapshot, in batches that are small enough to be held in
 * memory. Nothing is read ahead of whoever takes the batches.
 */

export interface ExportQuestion extends HistoryQuestion {
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
  question: ExportQuestion,
): AsyncGenerator<ExecutionDetailRow[], void, undefined> {
  const endsAtMs = performance.now() + question.msMax;
  const { trx, giveBack } = await openSnapshot(db);
  try {
    for (const ranges of inGroups(await piecesOf(trx, question))) {
      for (let rest = ranges; rest.length > 0; ) {
        if (performance.now() > endsAtMs) throw new ExportTooSlow();
        const rows = await readWholeRecords(trx, question, {
          ranges: rest,
          take: rowsMax,
          bytesMax,
        });
        const last = rows.at(-1);
        if (!last) break;
        yield rows;
        rest = rest.flatMap((range) => before(last.id, range));
      }
    }
  } finally {
    await giveBack();
  }
}

const rowsMax = 200;
/** A batch ends with the record that goes beyond it. */
const bytesMax = 1_000_000;

/** Where something matches, in stretches that one statement can look through in its time. */
async function piecesOf(trx: Trx, question: ExportQuestion): Promise<Piece[]> {
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
