import { type BucketLevel, type Span, spansOf } from '../../../core/history/history-range.ts';
import { levelMs } from '../../../core/history/statistics.ts';
import { dayStartMs, hourStartMs, quarterDayStartMs, weekday } from '../../../core/time-zone.ts';

/** The time intervals of a statistics response, and the buckets that make them up exactly. */

/** `all`: the whole range is one interval. Weeks begin on Mondays. */
export const intervalLengths = [
  'minute',
  'quarterHour',
  'hour',
  'sixHours',
  'day',
  'week',
  'all',
] as const;
export type IntervalLength = (typeof intervalLengths)[number];

export interface IntervalsRequest {
  readonly length: IntervalLength;
  readonly zone: string;
  /** Both inclusive; null for an open range. */
  readonly startMs: number | null;
  readonly endMs: number | null;
  readonly nowMs: number;
}

/**
 * The starts of the intervals, oldest first, and the end of the last: whole intervals that contain the range. Null if there are
 * more than `intervalsMax`. A range without a start gets the usual number of intervals for their length.
 */
export function intervalBounds(question: IntervalsRequest, intervalsMax: number): number[] | null {
  const { length, zone, startMs, endMs, nowMs } = question;
  const lastMs = endMs ?? Math.max(nowMs, startMs ?? nowMs);
  if (length === 'all') {
    const toMs = endMs === null ? dayStartMs(lastMs, zone, 1) : floor(endMs, quarterMs) + quarterMs;
    const fromMs =
      startMs === null ? dayStartMs(toMs - 1, zone, 1 - daysUsual) : floor(startMs, quarterMs);
    return [fromMs, toMs];
  }
  const bounds: number[] = [];
  let start = startMs === null ? usualStart(length, lastMs, zone) : begin(length, startMs, zone);
  while (start <= lastMs) {
    if (bounds.push(start) > intervalsMax) return null;
    start = next(length, start, zone);
  }
  return [...bounds, start];
}

/** Whether every interval begins where a bucket of that level does. */
export function fits(bounds: readonly number[], level: BucketLevel): boolean {
  return bounds.every((ms) => ms % levelMs[level] === 0);
}

/** The buckets of these levels (coarsest first) that make up the intervals. Bounds must fit the finest level. */
export function intervalSpans(bounds: readonly number[], by: readonly BucketLevel[]): Span[] {
  const spans: Span[] = [];
  for (const [index, fromMs] of bounds.slice(0, -1).entries()) {
    const inside = spansOf(fromMs, bounds[index + 1] ?? fromMs, by);
    for (const span of inside.toSorted((a, b) => a.fromMs - b.fromMs)) {
      const before = spans.at(-1);
      if (before?.level === span.level && before.toMs === span.fromMs) {
        spans[spans.length - 1] = { ...before, toMs: span.toMs };
      } else spans.push(span);
    }
  }
  return spans;
}

type Length = Exclude<IntervalLength, 'all'>;

const daysUsual = 30;

/** The number of intervals of a range without a start. */
const intervalsUsual: Record<Length, number> = {
  minute: 60,
  quarterHour: 96,
  hour: 48,
  sixHours: 28,
  day: daysUsual,
  week: 13,
};

function usualStart(length: Length, lastMs: number, zone: string): number {
  const before = intervalsUsual[length] - 1;
  if (length === 'day') return dayStartMs(lastMs, zone, -before);
  if (length === 'week') return dayStartMs(begin('week', lastMs, zone), zone, -7 * before);
  return begin(length, lastMs - before * lengthMs[length], zone);
}

const lengthMs = {
  minute: levelMs.minute,
  quarterHour: levelMs.quarter,
  hour: levelMs.hour,
  sixHours: 6 * levelMs.hour,
};

/** Minutes and quarters of an hour begin at the same time everywhere. */
function begin(length: Length, ms: number, zone: string): number {
  if (length === 'day') return dayStartMs(ms, zone);
  if (length === 'week') return dayStartMs(ms, zone, 1 - weekday(ms, zone));
  if (length === 'sixHours') return quarterDayStartMs(ms, zone);
  return length === 'hour' ? hourStartMs(ms, zone) : floor(ms, lengthMs[length]);
}

function next(length: Length, startMs: number, zone: string): number {
  if (length === 'day') return dayStartMs(startMs, zone, 1);
  if (length === 'week') return dayStartMs(startMs, zone, 7);
  if (length === 'sixHours') return quarterDayStartMs(startMs, zone, 1);
  const after = begin(length, startMs + lengthMs[length], zone);
  // A clock change in the middle of an hour can split it in two.
  const between = begin(length, after - 1, zone);
  return between > startMs ? between : after;
}

const quarterMs = levelMs.quarter;

function floor(ms: number, lengthMs: number): number {
  return Math.floor(ms / lengthMs) * lengthMs;
}
