import { everything } from '../../../core/history/history-range.ts';
import type { Db } from '../../../db/database.ts';
import { nextTicks, type ScheduleTimes } from '../rules/schedule.ts';
import {
  advanceSchedules,
  type FarScheduleRow,
  listFarSchedules,
} from '../statements/schedules.ts';

/** Computing a cron takes time and blocks the event loop. */
const schedulesPerBatch = 20;

/**
 * Corrects schedules whose next tick is later than the first match of their cron. They advanced while the database's clock
 * was ahead, and would otherwise sleep until then.
 */
export async function advanceFarSchedules(db: Db): Promise<void> {
  let after = everything.fromId;
  for (;;) {
    const page = { after, limit: schedulesPerBatch };
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
    // An unknown time zone is reported once the tick is due. It must not block other schedules.
    return null;
  }
}
