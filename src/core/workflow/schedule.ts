import { Cron } from 'croner';
import { findZone } from '../time-zone.ts';

/** When a schedule ticks: cron with five fields or a nickname for such, read on the clocks of a place. Moments are milliseconds. */

/** What becomes of ticks that no process was there for: nothing, or one run for all of them. */
export const missedPolicies = ['skip', 'once'] as const;
export type MissedPolicy = (typeof missedPolicies)[number];

/** A tick that is carried out so much later than it should be was missed. */
export const missedAfterMs = 60_000;

export interface ScheduleTimes {
  readonly cron: string;
  /** An IANA name. */
  readonly timeZone: string;
}

/** What is wrong with it, for people; null where nothing is. */
export function scheduleProblem({ cron, timeZone }: ScheduleTimes): string | null {
  if (findZone(timeZone) === null) {
    return `"${timeZone}" is no time zone; an IANA name is needed, such as Europe/Berlin.`;
  }
  try {
    // The library takes a moment in place of an expression, too.
    const once = read({ cron, timeZone }).getOnce() !== null;
    return once ? `Field "cron" is no expression of five fields, but a moment: "${cron}".` : null;
  } catch {
    return `"${cron}" is no cron expression of five fields: minute, hour, day of the month, month, day of the week.`;
  }
}

/** The next ticks after a moment, so many or fewer where no more will ever come. */
export function nextTicks(times: ScheduleTimes, afterMs: number, count: number): number[] {
  return read(times)
    .nextRuns(count, new Date(afterMs))
    .map((tick) => tick.getTime());
}

/**
 * What is to be done once a tick is due: for which tick a run is started, null where for none, and when the next one is.
 * `once` makes one run of all that passed; `skip` starts the first that is not yet missed, though others before it were.
 */
export function dueTick(
  schedule: ScheduleTimes & { readonly missed: MissedPolicy },
  tickMs: number,
  nowMs: number,
): { readonly firesMs: number | null; readonly nextMs: number | null } {
  const [nextMs = null] = nextTicks(schedule, Math.max(nowMs, tickMs), 1);
  if (schedule.missed === 'once' || nowMs - tickMs < missedAfterMs)
    return { firesMs: tickMs, nextMs };
  const [lately = null] = nextTicks(schedule, nowMs - missedAfterMs, 1);
  return { firesMs: lately !== null && lately <= nowMs ? lately : null, nextMs };
}

/** No timer: it is only asked. Lists and ranges of hours and minutes are times of day, as single ones are. */
function read({ cron, timeZone }: ScheduleTimes): Cron {
  const fixedTimeRule = 'no-wildcard';
  return new Cron(cron, { mode: '5-part', timezone: timeZone, paused: true, fixedTimeRule });
}
