import { uuid7Time, uuidFloor } from '../id.ts';
import { levelMs } from './statistics.ts';

/**
 * How a page of a history of any length is found without reading what lies before it. Buckets of time say how many
 * records each holds: their sum is the total, and a page is looked for only in the buckets that it falls into, which are
 * broken up into finer ones until little is left to read. Everything here is newest first.
 */

export type StepLevel = keyof typeof levelMs;

/** The identifiers `[fromId, toId)`. */
export interface IdRange {
  readonly fromId: string;
  readonly toId: string;
}

/** Whole buckets of one level that begin in `[fromMs, toMs)`. */
export interface Span {
  readonly level: StepLevel;
  readonly fromMs: number;
  readonly toMs: number;
}

/** What a range consists of: whole buckets, and what is left at its edges, whose records are counted one by one. */
export interface Cover {
  readonly spans: Span[];
  readonly cuts: IdRange[];
}

/** A stretch of the history and what is in it. `level` is null where it is no bucket. */
export interface Piece extends IdRange {
  readonly level: StepLevel | null;
  /** How many of its records match, and how many there are. */
  readonly matching: number;
  readonly all: number;
}

/** The pieces that a page falls into, and how many matching records of the first of them come before it. */
export interface Window {
  readonly pieces: Piece[];
  readonly skip: number;
}

export const everything: IdRange = {
  fromId: uuidFloor(0),
  toId: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
};

/** The buckets of these levels, coarsest first, that lie inside a range, as coarse as they can be. */
export function cover(range: IdRange, levels: readonly StepLevel[]): Cover {
  const finest = levels.at(-1) ?? 'minute';
  const fromMs = firstStart(range.fromId, levelMs[finest]);
  const toMs = floor(uuid7Time(range.toId), levelMs[finest]);
  if (fromMs >= toMs) return { spans: [], cuts: range.fromId < range.toId ? [range] : [] };
  const edges = [
    { fromId: uuidFloor(toMs), toId: range.toId },
    { fromId: range.fromId, toId: uuidFloor(fromMs) },
  ];
  return {
    spans: spansOf(fromMs, toMs, levels).flatMap(withinAnHour),
    cuts: edges.filter(({ fromId, toId }) => fromId < toId),
  };
}

/** Where no whole hour lies in between, minutes of two hours stand in one span: each goes to its own. */
function withinAnHour(span: Span): Span[] {
  const turnMs = floor(span.fromMs, levelMs.hour) + levelMs.hour;
  if (span.level !== 'minute' || turnMs >= span.toMs) return [span];
  return [
    { ...span, fromMs: turnMs },
    { ...span, toMs: turnMs },
  ];
}

/**
 * The spans of minutes of a cover, each with its hour. Minutes of quiet hours are not kept for ever, so these are to be
 * trusted only where all minutes of the hour add up to it.
 */
export function minutesOf({ spans }: Cover): { readonly span: Span; readonly hour: Span }[] {
  return spans
    .filter(({ level }) => level === 'minute')
    .map((span) => {
      const fromMs = floor(span.fromMs, levelMs.hour);
      return { span, hour: { level: 'hour', fromMs, toMs: fromMs + levelMs.hour } };
    });
}

/** The whole buckets between two bounds of the finest level, as coarse as they can be. */
export function spansOf(fromMs: number, toMs: number, levels: readonly StepLevel[]): Span[] {
  const [level, ...finer] = levels;
  if (level === undefined || fromMs >= toMs) return [];
  const step = levelMs[level];
  const inner = { level, fromMs: Math.ceil(fromMs / step) * step, toMs: floor(toMs, step) };
  if (inner.fromMs >= inner.toMs) return spansOf(fromMs, toMs, finer);
  return [...spansOf(inner.toMs, toMs, finer), inner, ...spansOf(fromMs, inner.fromMs, finer)];
}

/** The identifiers of a span. */
export function idsOf({ fromMs, toMs }: Span): IdRange {
  return { fromId: uuidFloor(fromMs), toId: uuidFloor(toMs) };
}

export function bucketPiece(level: StepLevel, startMs: number, counts: Counts): Piece {
  const toId = uuidFloor(startMs + levelMs[level]);
  return { level, fromId: uuidFloor(startMs), toId, ...counts };
}

type Counts = Pick<Piece, 'matching' | 'all'>;

/** What of these pieces a page of `take` records after the first `skip` falls into. */
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
 * The pieces of a window that are worth breaking up into buckets of a finer level: where more records may have to be
 * read than is cheap. At worst all that do not match come first.
 */
export function crowded(window: Window, take: number, level: StepLevel): Piece[] {
  return window.pieces.filter((piece, index) => {
    if (!isCoarser(piece, level)) return false;
    const wanted = Math.min(piece.matching, take + (index === 0 ? window.skip : 0));
    return piece.all - piece.matching + wanted > readCheaply;
  });
}

/** The pieces that hold mostly what does not match, where all that match are to be read. */
export function sparse({ pieces }: Window, level: StepLevel): Piece[] {
  return pieces.filter(
    (piece) => isCoarser(piece, level) && piece.all > readCheaply && piece.all > 2 * piece.matching,
  );
}

/** The pieces that hold more than is read in one go, where nothing tells what matches but a look at each record. */
export function lengthy({ pieces }: Window, level: StepLevel): Piece[] {
  return pieces.filter((piece) => isCoarser(piece, level) && piece.all > readInOneGo);
}

/** Records that one statement looks at. */
export const readInOneGo = 20_000;

function isCoarser(piece: Piece, level: StepLevel): boolean {
  return piece.level !== null && levelMs[piece.level] > levelMs[level];
}

const readCheaply = 1_000;

/**
 * Puts finer pieces in the place of those they are parts of. Fine buckets of quiet times are not kept for ever: a piece
 * whose parts do not add up to it stays whole.
 */
export function breakUp(
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

/** What of a range lies before an execution in time, which is after it in the list. */
export function before(executionId: string, range: IdRange): IdRange[] {
  if (range.toId <= executionId) return [range];
  return range.fromId < executionId ? [{ ...range, toId: executionId }] : [];
}

/** What of a range is an execution or lies after it in time, which is before it in the list. */
export function downTo(executionId: string, range: IdRange): IdRange[] {
  if (range.fromId >= executionId) return [range];
  return range.toId > executionId ? [{ ...range, fromId: executionId }] : [];
}

/** The ranges that the pieces make up, those that touch as one. */
export function rangesOf(pieces: readonly Piece[]): IdRange[] {
  const ranges: { fromId: string; toId: string }[] = [];
  for (const { fromId, toId } of pieces) {
    const last = ranges.at(-1);
    if (last?.fromId === toId) last.fromId = fromId;
    else ranges.push({ fromId, toId });
  }
  return ranges;
}

/** When the first bucket begins that holds nothing from before an identifier. */
function firstStart(id: string, step: number): number {
  const ms = uuid7Time(id);
  return id === uuidFloor(ms) ? Math.ceil(ms / step) * step : floor(ms, step) + step;
}

function floor(ms: number, step: number): number {
  return Math.floor(ms / step) * step;
}
