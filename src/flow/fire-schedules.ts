import { dueTick } from '../core/schedule.ts';
import { parseExecuteBody } from '../core/variables.ts';
import { type Db, inTransaction } from '../store/db.ts';
import {
  findDueSchedules,
  moveSchedule,
  type ScheduleRow,
  takeDueSchedule,
} from '../store/schedules.ts';
import type { StartCall, Started, WorkflowStarter } from './start-workflow.ts';

/**
 * Starts the runs whose time has come. Every process that works asks once a second; a schedule is locked while its run
 * is started and until it has moved on, and others pass over it. The run is started in a transaction of its own, under
 * the tick as idempotency key: where the process dies in between, the next one finds that run and only moves on.
 */

export interface ScheduleParts {
  readonly db: Db;
  readonly starter: Pick<WorkflowStarter, 'start'>;
  /** Told of a schedule whose run was refused, or could not be started; the latter is tried again. */
  readonly onRefused: (schedule: ScheduleRow, refusal: Started & { kind: 'refused' }) => void;
  readonly onError: (error: unknown) => void;
}

/** Looked at in one go; what is left is due in the next second. */
const schedulesMax = 1_000;

export async function fireSchedules(parts: ScheduleParts): Promise<void> {
  for (const id of await findDueSchedules(parts.db, schedulesMax)) {
    // One that cannot be fired must not stand in the way of the others.
    await fire(parts, id).catch(parts.onError);
  }
}

function fire({ db, starter, onRefused }: ScheduleParts, id: string): Promise<void> {
  return inTransaction(db, async (trx) => {
    const taken = await takeDueSchedule(trx, id);
    const tick = taken?.schedule.nextAt;
    if (!taken || !tick) return;
    const { schedule, nowMs } = taken;
    const { firesMs, nextMs } = dueTick(schedule, tick.getTime(), nowMs);
    const started =
      firesMs === null ? null : await starter.start(callOf(schedule, new Date(firesMs)));
    if (started?.kind === 'refused') onRefused(schedule, started);
    const firedMs = started?.kind === 'accepted' ? firesMs : null;
    await moveSchedule(trx, id, { nextMs, firedMs });
  });
}

function callOf(schedule: ScheduleRow, tick: Date): StartCall {
  const { id, workspaceId, createdBy: userId } = schedule;
  return {
    credential: { kind: 'trigger', id, workspaceId, userId },
    workflowId: schedule.workflowId,
    trigger: 'schedule',
    body: parseExecuteBody(`{"input":${schedule.input}}`, 'input'),
    idempotencyKey: tick.toISOString(),
    idempotencyComplaint: null,
  };
}
