import {
  type BucketLevel,
  cover,
  type IdRange,
  idsOf,
  minutesOf,
  type Piece,
  type Span,
  splitPieces,
  type Window,
} from '../../../core/history/history-range.ts';
import { uuid7Time } from '../../../core/id.ts';
import type { Trx } from '../../../db/database.ts';
import { countBuckets, countRanges, levelsOf } from '../statements/history-counts.ts';
import { type HistoryRequest, isIndexed } from '../statements/history-filter.ts';

/** Locates matching records in a history from counts alone, without reading records. */

/** The pieces of a range that contain matches, newest first. */
export async function countPieces(
  trx: Trx,
  request: HistoryRequest,
  range: IdRange,
): Promise<Piece[]> {
  if (isIndexed(request)) return countRanges(trx, request, [range]);
  const covered = cover(range, levelsOf(request));
  const minutes = minutesOf(covered);
  const counted = await countBuckets(trx, request, [
    ...covered.spans,
    ...minutes.flatMap(({ hour }) => [hour, { ...hour, level: 'minute' as const }]),
  ]);
  const checks = counted.splice(covered.spans.length);
  const incomplete = minutes
    .filter((_, index) => checks[2 * index]?.all !== checks[2 * index + 1]?.all)
    .map(({ span }) => span);
  const pieces = counted.flatMap((one, index) =>
    incomplete.includes(covered.spans[index] as Span) ? [] : one.pieces,
  );
  const cuts = [...covered.cuts, ...incomplete.map(idsOf)];
  pieces.push(...(await countRanges(trx, request, cuts)));
  return pieces.sort((a, b) => (a.fromId < b.fromId ? 1 : -1));
}

/** Splits the pieces that `select` selects, level by level, down to minutes. */
export async function breakDown(
  trx: Trx,
  request: HistoryRequest,
  initial: Window,
  take: number,
  select: (window: Window, level: BucketLevel) => Piece[],
): Promise<Window> {
  let window = initial;
  for (const level of levelsOf(request).slice(1)) {
    const found = select(window, level);
    const spans = found.map(({ fromId, toId }) => ({
      level,
      fromMs: uuid7Time(fromId),
      toMs: uuid7Time(toId),
    }));
    const counted = await countBuckets(trx, request, spans);
    const byPiece = new Map(counted.map((one, index) => [found[index] as Piece, one]));
    window = splitPieces(window, byPiece, take);
  }
  return window;
}
