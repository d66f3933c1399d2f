import { viewerZone } from '../text/format.ts';
import type { Preset, RangeSearch } from './range-search.ts';

/** The time range of figures and charts: a preset that ends now, yesterday, or two times. */

export const presetLabels: Record<Preset, string> = {
  '6h': '6 hours',
  '24h': '24 hours',
  yesterday: 'Yesterday',
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
};

/** The length of an interval, as in the API, from the shortest. */
export const levels = ['quarterHour', 'hour', 'sixHours', 'day', 'week'] as const;
export type ChartLevel = (typeof levels)[number];

export interface TimeRange {
  readonly level: ChartLevel;
  readonly startMs: number;
  /** The last millisecond. Null: it ends now. */
  readonly endMs: number | null;
  readonly timeZone: string;
}

/** The range at a moment. It starts with a whole interval, so that the first bar is not a partial one. */
export function toTimeRange(search: RangeSearch, nowMs: number, fallback: Preset): TimeRange {
  const { from, to, range = fallback } = search;
  const timeZone = viewerZone;
  if (from === undefined || to === undefined) {
    return { endMs: null, ...presetRange(range, new Date(nowMs)), timeZone };
  }
  const [startMs, endMs] = [Date.parse(from), Date.parse(to)];
  return { level: levelFor(endMs - startMs), startMs, endMs, timeZone };
}

function presetRange(
  preset: Preset,
  now: Date,
): Pick<TimeRange, 'level' | 'startMs'> & { readonly endMs?: number } {
  const day = (days: number, hours = 0) =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hours).getTime();
  if (preset === '6h') {
    const quarter = Math.floor(now.getTime() / quarterMs) * quarterMs;
    return { level: 'quarterHour', startMs: quarter - 23 * quarterMs };
  }
  if (preset === '24h') {
    const hour = Math.floor(now.getTime() / hourMs) * hourMs;
    return { level: 'hour', startMs: hour - 23 * hourMs };
  }
  if (preset === 'yesterday') return { level: 'hour', startMs: day(-1), endMs: day(0) - 1 };
  if (preset === '7d') {
    const part = Math.floor(now.getHours() / 6) * 6;
    return { level: 'sixHours', startMs: day(0, part - 27 * 6) };
  }
  if (preset === '30d') return { level: 'day', startMs: day(-29) };
  // From a Monday on: 13 weeks including this one.
  return { level: 'week', startMs: day(-((now.getDay() + 6) % 7) - 12 * 7) };
}

const quarterMs = 900_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;

/** The interval that gives a custom range about 12 to 60 bars. */
function levelFor(lengthMs: number): ChartLevel {
  if (lengthMs <= 12 * hourMs) return 'quarterHour';
  if (lengthMs <= 2.5 * dayMs) return 'hour';
  if (lengthMs <= 14 * dayMs) return 'sixHours';
  return lengthMs <= 62 * dayMs ? 'day' : 'week';
}

/** The range of equal length before it. `untilMs` ends as much into it as has passed of the range itself. */
export interface PreviousRange extends TimeRange {
  readonly endMs: number;
  readonly untilMs: number;
}

export function previousOf(range: TimeRange, nowMs: number): PreviousRange {
  const { startMs, endMs } = range;
  const length = (endMs ?? nowMs) + 1 - startMs;
  const whole = endMs === null ? startMs - presetLengthMs(range, nowMs) : startMs - length;
  const elapsedMs = Math.min(length, Math.max(quarterMs, nowMs - startMs));
  return { ...range, startMs: whole, endMs: startMs - 1, untilMs: whole + elapsedMs - 1 };
}

/** From the start of the range to the end of its last interval. */
function presetLengthMs({ level, startMs }: TimeRange, nowMs: number): number {
  let bars = 0;
  for (let at = startMs; at <= nowMs; at = nextStart(level, at)) bars++;
  return previousBars(level, startMs, bars);
}

/** The length of so many intervals before a moment. */
function previousBars(level: ChartLevel, startMs: number, bars: number): number {
  if (level === 'quarterHour') return bars * quarterMs;
  if (level === 'hour') return bars * hourMs;
  const at = new Date(startMs);
  const days = level === 'week' ? 7 * bars : level === 'day' ? bars : 0;
  const hours = level === 'sixHours' ? 6 * bars : 0;
  const before = new Date(
    at.getFullYear(),
    at.getMonth(),
    at.getDate() - days,
    at.getHours() - hours,
  );
  return startMs - before.getTime();
}

/** The start of the next interval, in the viewer's time zone. The API's response is the reference. */
export function nextStart(level: ChartLevel, startMs: number): number {
  if (level === 'quarterHour') return startMs + quarterMs;
  if (level === 'hour') return startMs + hourMs;
  const at = new Date(startMs);
  const [hours, days] = level === 'sixHours' ? [6, 0] : [0, level === 'week' ? 7 : 1];
  const date = at.getDate() + days;
  // A day without a midnight begins at 1:00, so days are computed from the calendar.
  const hour = level === 'sixHours' ? Math.floor(at.getHours() / 6) * 6 + hours : 0;
  return new Date(at.getFullYear(), at.getMonth(), date, hour).getTime();
}
