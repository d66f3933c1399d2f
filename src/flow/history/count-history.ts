import {
  breakUp,
  cover,
  type IdRange,
  idsOf,
  minutesOf,
  type Piece,
  type Span,
  type StepLevel,
  type Window,
} from '../../core/history/history-range.ts';
import { uuid7Time } from '../../core/id.ts';
import type { Trx } from '../../store/connection/database.ts';
import { countBuckets, countRanges, levelsOf } from '../../store/history/history-counts.ts';
import type { HistoryRequest } from '../../store/history/history-filter.ts';

/** Where in a history what is asked for lies, from counts alone. */

/** The pieces of a range in which something matches, newest first. */
export async function countPieces(
  trx: Trx,
  question: HistoryRequest,
  range: IdRange,
): Promise<Piece[]> {
  const whole = cover(range, levelsOf(question));
  const minutes = minutesOf(whole);
  const counted = await countBuckets(trx, question, [
    ...whole.spans,
    ...minutes.flatMap(({ hour }) => [hour, { ...hour, level: 'minute' as const }]),
  ]);
  const checks = counted.splice(whole.spans.length);
  const incomplete = minutes
    .filter((_, index) => checks[2 * index]?.all !== checks[2 * index + 1]?.all)
    .map(({ span }) => span);
  const pieces = counted.flatMap((one, index) =>
    incomplete.includes(whole.spans[index] as Span) ? [] : one.pieces,
  );
  const cuts = [...whole.cuts, ...incomplete.map(idsOf)];
  pieces.push(...(await countRanges(trx, question, cuts)));
  return pieces.sort((a, b) => (a.fromId < b.fromId ? 1 : -1));
}

/** Breaks up the pieces that are worth it, level by level. */
export async function breakDown(
  trx: Trx,
  question: HistoryRequest,
  whole: Window,
  take: number,
  worth: (window: Window, level: StepLevel) => Piece[],
): Promise<Window> {
  let window = whole;
  for (const level of levelsOf(question).slice(1)) {
    const found = worth(window, level);
    const spans = found.map(({ fromId, toId }) => ({
      level,
      fromMs: uuid7Time(fromId),
      toMs: uuid7Time(toId),
    }));
    const parts = await countBuckets(trx, question, spans);
    const byPiece = new Map(parts.map((part, index) => [found[index] as Piece, part]));
    window = breakUp(window, byPiece, take);
  }
  return window;
}
