import { levelMs } from '../src/core/history/statistics.ts';

/** When the executions were: how many fall into each hour, more by day than by night, fewer at the weekend. */

export interface Hour {
  readonly fromMs: number;
  readonly toMs: number;
  /** Of the agent that is seeded, and of all others together. */
  readonly own: number;
  readonly others: number;
}

/** A whole day, UTC: no bucket of the statistics reaches beyond it, so days can be written side by side. */
export interface Day {
  readonly fromMs: number;
  readonly hours: readonly Hour[];
  /** How many executions of each kind come before it. */
  readonly ownBefore: number;
  readonly othersBefore: number;
}

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The last so many days, today among them. The end is far enough back for the slowest run to be over. */
export function lastDays(nowMs: number, days: number): Span {
  const toMs = nowMs - slowestMs;
  // Just after midnight there would be no room.
  const today = floorTo(toMs - levelMs.hour, levelMs.day);
  return { fromMs: today - (days - 1) * levelMs.day, toMs };
}

export function planDays({ fromMs, toMs }: Span, own: number, others: number): Day[] {
  const spans: (Span & { weight: number })[] = [];
  for (let at = fromMs; at < toMs; at += levelMs.hour) {
    const end = Math.min(at + levelMs.hour, toMs);
    const growth = 0.7 + (0.6 * (at - fromMs)) / (toMs - fromMs);
    spans.push({ fromMs: at, toMs: end, weight: weightOf(at) * growth * (end - at) });
  }
  const total = spans.reduce((sum, { weight }) => sum + weight, 0);
  const days = new Map<number, { hours: Hour[]; ownBefore: number; othersBefore: number }>();
  let sum = 0;
  for (const { weight, ...span } of spans) {
    const before = sum / total;
    sum += weight;
    const upTo = span.toMs === toMs ? 1 : sum / total;
    const [ownBefore, othersBefore] = [Math.round(own * before), Math.round(others * before)];
    const dayMs = floorTo(span.fromMs, levelMs.day);
    const day = days.get(dayMs) ?? { hours: [], ownBefore, othersBefore };
    days.set(dayMs, day);
    day.hours.push({
      ...span,
      own: Math.round(own * upTo) - ownBefore,
      others: Math.round(others * upTo) - othersBefore,
    });
  }
  return [...days].map(([dayMs, day]) => ({ fromMs: dayMs, ...day }));
}

/** The longest that a run takes here, with its wait, is less. */
const slowestMs = 360_000;
const peakHour = 14;
const weekend = 0.4;

function weightOf(atMs: number): number {
  const at = new Date(atMs);
  const byHour = 1 + 0.75 * Math.cos(((at.getUTCHours() - peakHour) / 12) * Math.PI);
  return byHour * (at.getUTCDay() % 6 === 0 ? weekend : 1);
}

function floorTo(atMs: number, step: number): number {
  return Math.floor(atMs / step) * step;
}
