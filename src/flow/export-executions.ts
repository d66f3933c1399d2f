import { type IdRange, lengthy, sparse, windowOf } from '../core/history.ts';
import type { Db, Trx } from '../store/db.ts';
import type { ExecutionDetailRow } from '../store/executions.ts';
import * as store from '../store/history.ts';
import { breakDown, countPieces } from './count-history.ts';

/**
 * All of a history that matches, newest first and from one snapshot, in batches that are small enough to be held in
 * memory. Nothing is read ahead of whoever takes the batches.
 */

export interface ExportQuestion extends store.HistoryQuestion {
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
  const { trx, giveBack } = await store.openSnapshot(db);
  try {
    let take = rowsFirst;
    for (const range of await rangesOf(trx, question)) {
      for (let rest = range; ; ) {
        if (performance.now() > endsAtMs) throw new ExportTooSlow();
        const page = { ranges: [rest], skip: 0, take };
        const rows = await store.readWholeRecords(trx, question, page);
        const last = rows.at(-1);
        if (!last) break;
        yield rows;
        if (rows.length < take) break;
        rest = { ...rest, toId: last.id };
        take = rowsWithin(rows);
      }
    }
  } finally {
    await giveBack();
  }
}

const rowsFirst = 20;
const rowsMax = 200;
const batchCharactersMax = 1_000_000;

/** How many rows like these make a batch. */
function rowsWithin(rows: readonly ExecutionDetailRow[]): number {
  const length = rows.reduce((sum, row) => sum + lengthOf(row), 0) / rows.length;
  return Math.max(1, Math.min(rowsMax, Math.floor(batchCharactersMax / length)));
}

function lengthOf({
  inputVariables,
  systemPrompt,
  userPrompt,
  output,
}: ExecutionDetailRow): number {
  const texts = [inputVariables, systemPrompt, userPrompt, output];
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 1_000);
}

/** Where something matches, in stretches that one statement can look through in its time. */
async function rangesOf(trx: Trx, question: ExportQuestion): Promise<IdRange[]> {
  const { range, after, contents } = question;
  const rest = after !== null && after < range.toId ? { ...range, toId: after } : range;
  const countable = { ...question, contents: null };
  const pieces = await countPieces(trx, countable, rest);
  const matching = pieces.reduce((sum, piece) => sum + piece.matching, 0);
  const all = windowOf(pieces, 0, matching);
  const worth = contents === null ? sparse : lengthy;
  return (await breakDown(trx, countable, all, matching, worth)).pieces;
}
