import { levelMs } from '../src/core/history/statistics.ts';

/** Distributes the executions over hours: more by day than at night, fewer on weekends. */

export interface Hour {
  readonly fromMs: number;
  readonly toMs: number;
  /** Executions of the seeded agent, and of all others together. */
  readonly own: number;
  readonly others: number;
}

/** A whole day in UTC. No statistics bucket spans two days, so days can be written in parallel. */
export interface Day {
  readonly fromMs: number;
  readonly hours: readonly Hour[];
  /** Number of executions of each kind before this day. */
  readonly ownBefore: number;
  readonly othersBefore: number;
}

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The last days, including today. The end leaves room for the longest execution. */
export function lastDays(nowMs: number, days: number): Span {
  const toMs = nowMs - slowestMs;
  // Just after midnight, today would be too short.
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

/** Upper bound of a seeded execution, including its wait. */
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
