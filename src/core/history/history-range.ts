import { uuid7Time, uuidFloor } from '../id.ts';
import { levelMs } from './statistics.ts';

/**
 * Finds a page of a history of any length without reading what lies before it. Time buckets hold record counts: their
 * sum is the total, and only the buckets that overlap the page are split into finer ones until little is left to read.
 * Everything here is newest first.
 */

export type BucketLevel = keyof typeof levelMs;

/** The identifiers `[fromId, toId)`. */
export interface IdRange {
  readonly fromId: string;
  readonly toId: string;
}

/** Whole buckets of one level that begin in `[fromMs, toMs)`. */
export interface Span {
  readonly level: BucketLevel;
  readonly fromMs: number;
  readonly toMs: number;
}

/** A range split into whole buckets and its edges; the records at the edges are counted one by one. */
export interface Cover {
  readonly spans: Span[];
  readonly cuts: IdRange[];
}

/** A part of the history with its counts. `level` is null if it is not a bucket. */
export interface Piece extends IdRange {
  readonly level: BucketLevel | null;
  /** How many of its records match, and how many it has. */
  readonly matching: number;
  readonly all: number;
}

/** The pieces that a page overlaps, and how many matching records of the first piece come before it. */
export interface Window {
  readonly pieces: Piece[];
  readonly skip: number;
}

export const everything: IdRange = {
  fromId: uuidFloor(0),
  toId: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
};

/** The coarsest buckets of these levels (coarsest first) that lie inside a range. */
export function cover(range: IdRange, levels: readonly BucketLevel[]): Cover {
  const finest = levels.at(-1) ?? 'minute';
  // No record is as late as the end of everything: without an end, the coarsest buckets suffice.
  const isOpen = range.toId === everything.toId;
  const last = (isOpen && levels[0]) || finest;
  const fromMs = firstStart(range.fromId, levelMs[finest]);
  const toMs = floor(uuid7Time(range.toId), levelMs[last]);
  if (fromMs >= toMs) return { spans: [], cuts: range.fromId < range.toId ? [range] : [] };
  const edges = [
    ...(isOpen ? [] : [{ fromId: uuidFloor(toMs), toId: range.toId }]),
    { fromId: range.fromId, toId: uuidFloor(fromMs) },
  ];
  return {
    spans: spansOf(fromMs, toMs, levels).flatMap(withinAnHour),
    cuts: edges.filter(({ fromId, toId }) => fromId < toId),
  };
}

/** If no whole hour lies between, minutes of two hours are in one span; this splits them by hour. */
function withinAnHour(span: Span): Span[] {
  const turnMs = floor(span.fromMs, levelMs.hour) + levelMs.hour;
  if (span.level !== 'minute' || turnMs >= span.toMs) return [span];
  return [
    { ...span, fromMs: turnMs },
    { ...span, toMs: turnMs },
  ];
}

/**
 * The spans of minutes of a cover, each with its hour. Minutes of quiet hours are rolled up, so they are valid only if
 * all minutes of the hour add up to it.
 */
export function minutesOf({ spans }: Cover): { readonly span: Span; readonly hour: Span }[] {
  return spans
    .filter(({ level }) => level === 'minute')
    .map((span) => {
      const fromMs = floor(span.fromMs, levelMs.hour);
      return { span, hour: { level: 'hour', fromMs, toMs: fromMs + levelMs.hour } };
    });
}

/** The coarsest whole buckets between two bounds of the finest level. */
export function spansOf(fromMs: number, toMs: number, levels: readonly BucketLevel[]): Span[] {
  const [level, ...finer] = levels;
  if (level === undefined || fromMs >= toMs) return [];
  const step = levelMs[level];
  const inner = { level, fromMs: Math.ceil(fromMs / step) * step, toMs: floor(toMs, step) };
  if (inner.fromMs >= inner.toMs) return spansOf(fromMs, toMs, finer);
  return [...spansOf(inner.toMs, toMs, finer), inner, ...spansOf(fromMs, inner.fromMs, finer)];
}

/** The identifiers of a span. */
export function idsOf({ fromMs, toMs }: Pick<Span, 'fromMs' | 'toMs'>): IdRange {
  return { fromId: uuidFloor(fromMs), toId: uuidFloor(toMs) };
}

export function bucketPiece(level: BucketLevel, startMs: number, counts: Counts): Piece {
  const toId = uuidFloor(startMs + levelMs[level]);
  return { level, fromId: uuidFloor(startMs), toId, ...counts };
}

type Counts = Pick<Piece, 'matching' | 'all'>;

/** The pieces that a page of `take` records after the first `skip` overlaps. */
export function windowOf(pieces: readonly Piece[], skip: number, take: number): Window {
  const inside: Piece[] = [];
  let before = 0;
  let skipHere = 0;
  for (const piece of pieces) {
    if (before >= skip + take) break;
    before += piece.matching;
    if (before <= skip) continue;
    if (inside.length === 0) skipHere = skip - (before - piece.matching);
    inside.push(piece);
  }
  return { pieces: inside, skip: skipHere };
}

/**
 * The pieces of a window worth splitting into a finer level: where more records might have to be read than is cheap. In
 * the worst case all that do not match come first.
 */
export function crowded(window: Window, take: number, level: BucketLevel): Piece[] {
  return window.pieces.filter((piece, index) => {
    if (!isCoarser(piece, level)) return false;
    const wanted = Math.min(piece.matching, take + (index === 0 ? window.skip : 0));
    return piece.all - piece.matching + wanted > readCheaply;
  });
}

/** The pieces that hold mostly records that do not match, if every match must be read. */
export function sparsePieces({ pieces }: Window, level: BucketLevel): Piece[] {
  return pieces.filter(
    (piece) => isCoarser(piece, level) && piece.all > readCheaply && piece.all > 2 * piece.matching,
  );
}

/** The pieces for which one statement would read too much. @param readFor the number of records it reads for a piece */
export function longPieces(
  { pieces }: Window,
  level: BucketLevel,
  readFor = ({ all }: Piece) => all,
): Piece[] {
  return pieces.filter((piece) => isCoarser(piece, level) && readFor(piece) > readInOneGo);
}

/** Records that one statement reads. */
export const readInOneGo = 20_000;

function isCoarser(piece: Piece, level: BucketLevel): boolean {
  return piece.level !== null && levelMs[piece.level] > levelMs[level];
}

const readCheaply = 1_000;

/**
 * Replaces pieces by their finer parts. Fine buckets of quiet times are rolled up: a piece whose parts do not add up to
 * it stays whole.
 */
export function splitPieces(
  { pieces, skip }: Window,
  parts: ReadonlyMap<Piece, { readonly pieces: readonly Piece[]; readonly all: number }>,
  take: number,
): Window {
  const finer = pieces.flatMap((piece) => {
    const found = parts.get(piece);
    return found && found.all === piece.all ? found.pieces : [piece];
  });
  return windowOf(finer, skip, take);
}

/** The part of a range before an execution in time, which comes after it in the list. */
export function before(executionId: string, range: IdRange): IdRange[] {
  if (range.toId <= executionId) return [range];
  return range.fromId < executionId ? [{ ...range, toId: executionId }] : [];
}

/** The part of a range from an execution onwards in time, which comes before it in the list. */
export function downTo(executionId: string, range: IdRange): IdRange[] {
  if (range.fromId >= executionId) return [range];
  return range.toId > executionId ? [{ ...range, fromId: executionId }] : [];
}

/** The ranges of the pieces, with adjacent ones merged. */
export function rangesOf(pieces: readonly Piece[]): IdRange[] {
  const ranges: { fromId: string; toId: string }[] = [];
  for (const { fromId, toId } of pieces) {
    const last = ranges.at(-1);
    if (last?.fromId === toId) last.fromId = fromId;
    else ranges.push({ fromId, toId });
  }
  return ranges;
}

/** The start of the first bucket that holds nothing from before an identifier. */
function firstStart(id: string, step: number): number {
  const ms = uuid7Time(id);
  return id === uuidFloor(ms) ? Math.ceil(ms / step) * step : floor(ms, step) + step;
}

function floor(ms: number, step: number): number {
  return Math.floor(ms / step) * step;
}
