import { setTimeout as delay } from 'node:timers/promises';

/**
 * Starts calls on a fixed schedule, independently of earlier responses, and measures each from its scheduled start. So
 * a server that stalls also delays the calls behind it (no coordinated omission).
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

/**
 * Add it to `performance.now()` to get the time since 1970 with microseconds; it is taken when `Date.now()` changes.
 */
export function epochMs(): number {
  const before = Date.now();
  while (Date.now() === before);
  return Date.now() - performance.now();
}
