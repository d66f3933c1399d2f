import { everything } from '../../core/history/history-range.ts';
import { nextTicks, type ScheduleTimes } from '../../core/workflow/schedule.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  advanceSchedules,
  type FarScheduleRow,
  listFarSchedules,
} from '../../store/workflow/schedules.ts';

/** Reading a cron takes a while, and whoever else is served by this process waits for as many. */
const schedulesAtOnce = 20;

/**
 * A schedule ticks next at the first time that its cron names after now. One that is to do so later has moved on while
 * the database's clock was ahead, and would sleep until then. Its next tick is worked out anew.
 */
export async function advanceFarSchedules(db: Db): Promise<void> {
  let after = everything.fromId;
  for (;;) {
    const page = { after, limit: schedulesAtOnce };
    const { schedules, nowMs } = await listFarSchedules(db, page);
    await advanceSchedules(
      db,
      schedules.flatMap((schedule) => moveOf(schedule, nowMs)),
    );
    const last = schedules.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

function moveOf({ id, revision, nextAt, ...times }: FarScheduleRow, nowMs: number) {
  const nextMs = firstTick(times, nowMs);
  return nextMs !== null && nextMs < nextAt.getTime() ? [{ id, revision, nextMs }] : [];
}

function firstTick(times: ScheduleTimes, nowMs: number): number | null {
  try {
    return nextTicks(times, nowMs, 1)[0] ?? null;
  } catch {
    // A time zone that is not known any more: told once the tick is due, and nothing for the others to wait for.
    return null;
  }
}
