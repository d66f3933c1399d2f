import { Cron } from 'croner';
import { findZone } from '../../../core/time-zone.ts';

/** Schedule ticks: five-field cron, or a nickname, in a time zone. Times are milliseconds. */

/** Ticks missed while no process ran: skip them, or start one workflow run for all of them. */
export const missedPolicies = ['skip', 'once'] as const;
export type MissedPolicy = (typeof missedPolicies)[number];

/** A tick that fires this much later than due counts as missed. */
export const missedAfterMs = 60_000;

export interface ScheduleTimes {
  readonly cron: string;
  /** An IANA name. */
  readonly timeZone: string;
}

/** A problem with the schedule, as public text; null if it is valid. */
export function scheduleProblem({ cron, timeZone }: ScheduleTimes): string | null {
  if (findZone(timeZone) === null) {
    return `"${timeZone}" is no time zone; an IANA name is needed, such as Europe/Berlin.`;
  }
  try {
    // The library also accepts a moment instead of an expression.
    const once = read({ cron, timeZone }).getOnce() !== null;
    return once ? `Field "cron" is no expression of five fields, but a moment: "${cron}".` : null;
  } catch {
    return `"${cron}" is no cron expression of five fields: minute, hour, day of the month, month, day of the week.`;
  }
}

/** The next `count` ticks after a moment; fewer if the schedule ends. */
export function nextTicks(times: ScheduleTimes, afterMs: number, count: number): number[] {
  return read(times)
    .nextRuns(count, new Date(afterMs))
    .map((tick) => tick.getTime());
}

/**
 * The action for a due schedule: the tick to start a workflow run for (null: none) and the next tick. `once` starts one
 * run for all that passed; `skip` starts the first that does not count as missed.
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

/** Computes ticks only; starts no timer. Lists and ranges of hours and minutes are local times of day. */
function read({ cron, timeZone }: ScheduleTimes): Cron {
  const fixedTimeRule = 'no-wildcard';
  return new Cron(cron, { mode: '5-part', timezone: timeZone, paused: true, fixedTimeRule });
}
