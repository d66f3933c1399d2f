import { monthOf, monthStartMs, type Window, windowStartMs } from '../src/core/execution/limits.ts';

/** Whether a limit was exact: counted anew from what each call was answered, window by window. */

export type Turning = Window | 'month';

const lengthMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

/** The number of the window that a time falls into. */
export function numberOf(turning: Turning, atMs: number): number {
  return turning === 'month' ? monthOf(atMs) : Math.floor(atMs / lengthMs[turning]);
}

/** When the window of that number ends. */
export function endMs(turning: Turning, number: number): number {
  return turning === 'month' ? monthStartMs(number + 1) : windowStartMs(turning, number + 1);
}

/** How far the clock must leap to stand shortly before the next turn. */
export function leapToTurn(turning: Turning, nowMs: number, beforeMs: number): number {
  const end = endMs(turning, numberOf(turning, nowMs));
  const leap = end - beforeMs - nowMs;
  return leap > 0 ? leap : leap + endMs(turning, numberOf(turning, end)) - end;
}

export interface Counted {
  readonly what: string;
  readonly turning: Turning;
  readonly limit: number;
  /** For each call that was let past, the number of its window; for each that was refused likewise. */
  readonly past: readonly number[];
  readonly refused: readonly number[];
}

/** Never one more than the limit; and where a call was refused, not one fewer. */
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
