import { setTimeout as delay } from 'node:timers/promises';

/**
 * Starts one call after the other on a fixed schedule, whatever became of those before, and times each from when it was
 * *due*: a server that stalls makes the calls behind it late as well, and they count (no coordinated omission).
 */
export async function onSchedule<Result>(
  { perSecond, seconds }: { perSecond: number; seconds: number },
  call: (number: number, dueMs: number) => Promise<Result>,
): Promise<Result[]> {
  const begunMs = performance.now();
  const results: Promise<Result>[] = [];
  for (let number = 0; number < perSecond * seconds; number++) {
    const dueMs = begunMs + (number * 1_000) / perSecond;
    const earlyMs = dueMs - performance.now();
    if (earlyMs > 0) await delay(earlyMs);
    results.push(call(number, dueMs));
  }
  return Promise.all(results);
}

/** What `performance.now()` must be added to for the time since 1970, to the microsecond: `Date.now()` at its tick. */
export function epochMs(): number {
  const before = Date.now();
  while (Date.now() === before);
  return Date.now() - performance.now();
}
