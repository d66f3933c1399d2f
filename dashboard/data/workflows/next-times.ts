import { Cron } from 'croner';

/**
 * The times of a schedule that is not saved yet. The server computes them with the same library and the same options
 * (`features/workflows/rules/schedule.ts`); a test compares both.
 */

/** The next `count` times after a moment, fewer if no more follow; null if the expression or the time zone is invalid. */
export function nextTimes(
  { cron, timeZone }: { readonly cron: string; readonly timeZone: string },
  afterMs: number,
  count: number,
): string[] | null {
  if (!isTimeZone(timeZone)) return null;
  try {
    const fixedTimeRule = 'no-wildcard';
    const times = new Cron(cron, {
      ...{ mode: '5-part', timezone: timeZone, paused: true, fixedTimeRule },
    });
    // The library also accepts a moment instead of an expression.
    if (times.getOnce() !== null) return null;
    return times.nextRuns(count, new Date(afterMs)).map((time) => time.toISOString());
  } catch {
    return null;
  }
}

/** An offset is not a zone: it has no daylight saving time. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat(undefined, { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
