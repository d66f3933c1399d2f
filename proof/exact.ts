import { monthOf, monthStartMs, type Window, windowStartMs } from '../src/core/execution/limits.ts';

/** Checks that a limit was exact, by counting the responses window by window. */

export type LimitWindow = Window | 'month';

const lengthMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

/** The number of the window that contains this time. */
export function numberOf(turning: LimitWindow, atMs: number): number {
  return turning === 'month' ? monthOf(atMs) : Math.floor(atMs / lengthMs[turning]);
}

/** The end of that window. */
export function endMs(turning: LimitWindow, number: number): number {
  return turning === 'month' ? monthStartMs(number + 1) : windowStartMs(turning, number + 1);
}

/** How far the clock must jump to be just before the next boundary. */
export function leapToBoundary(turning: LimitWindow, nowMs: number, beforeMs: number): number {
  const end = endMs(turning, numberOf(turning, nowMs));
  const leap = end - beforeMs - nowMs;
  return leap > 0 ? leap : leap + endMs(turning, numberOf(turning, end)) - end;
}

export interface Counted {
  readonly what: string;
  readonly turning: LimitWindow;
  readonly limit: number;
  /** The window number of each admitted call, and of each refused one. */
  readonly past: readonly number[];
  readonly refused: readonly number[];
}

/** Never more than the limit; and in a window with a refusal, not fewer. */
export function checkExact({ what, turning, limit, past, refused }: Counted): string[] {
  const violations: string[] = [];
  const counts = Map.groupBy(past, (number) => number);
  for (const number of new Set([...past, ...refused])) {
    const count = counts.get(number)?.length ?? 0;
    if (count > limit || (count < limit && refused.includes(number))) {
      violations.push(`${count} of ${limit} were let past ${what} in ${turning} ${number}`);
    }
  }
  return violations;
}
