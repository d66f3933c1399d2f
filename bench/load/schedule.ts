import { setTimeout as delay } from 'node:timers/promises';

/**
 * Starts calls on a fixed schedule, independently of earlier responses, and passes each its scheduled start. So a stall
 * also counts for the calls behind it (no coordinated omission).
 */
export async function onSchedule<Result>(
  { perSecond, seconds }: { perSecond: number; seconds: number },
  call: (number: number, dueMs: number) => Promise<Result>,
): Promise<Result[]> {
  const startedMs = performance.now();
  const results: Promise<Result>[] = [];
  for (let number = 0; number < perSecond * seconds; number++) {
    const dueMs = startedMs + (number * 1_000) / perSecond;
    const earlyMs = dueMs - performance.now();
    if (earlyMs > 0) await delay(earlyMs);
    results.push(call(number, dueMs));
  }
  return Promise.all(results);
}

/** The offset from `performance.now()` to the Unix time, measured when `Date.now()` changes. */
export function epochMs(): number {
  const before = Date.now();
  while (Date.now() === before);
  return Date.now() - performance.now();
}
