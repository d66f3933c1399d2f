import { monthOf, monthStartMs, type Window, windowStartMs } from '../src/core/agent/limits.ts';

/** Checks that a limit was exact by counting the responses per window. */

export type LimitWindow = Window | 'month';

const lengthMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

/** The number of the window that contains this time. */
export function numberOf(window: LimitWindow, atMs: number): number {
  return window === 'month' ? monthOf(atMs) : Math.floor(atMs / lengthMs[window]);
}

/** The end of that window. */
export function endMs(window: LimitWindow, number: number): number {
  return window === 'month' ? monthStartMs(number + 1) : windowStartMs(window, number + 1);
}

/** The jump that sets the clock to shortly before the next boundary. */
export function leapToBoundary(window: LimitWindow, nowMs: number, beforeMs: number): number {
  const end = endMs(window, numberOf(window, nowMs));
  const leap = end - beforeMs - nowMs;
  return leap > 0 ? leap : leap + endMs(window, numberOf(window, end)) - end;
}

export interface Counted {
  readonly what: string;
  readonly window: LimitWindow;
  readonly limit: number;
  /** The window number of each admitted call, and of each refused one. */
  readonly admitted: readonly number[];
  readonly refused: readonly number[];
}

/** No window admits more than the limit, and no window with a refusal admits fewer. */
export function checkExact({ what, window, limit, admitted, refused }: Counted): string[] {
  const violations: string[] = [];
  const counts = Map.groupBy(admitted, (number) => number);
  for (const number of new Set([...admitted, ...refused])) {
    const count = counts.get(number)?.length ?? 0;
    if (count > limit || (count < limit && refused.includes(number))) {
      violations.push(`${what} admitted ${count} of ${limit} in ${window} ${number}`);
    }
  }
  return violations;
}
