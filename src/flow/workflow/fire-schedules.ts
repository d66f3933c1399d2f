import { parseExecuteBody } from '../../core/agent/variables.ts';
import { dueTick } from '../../core/workflow/schedule.ts';
import { type Db, inTransaction } from '../../store/connection/database.ts';
import {
  type DueScheduleRow,
  moveSchedules,
  type ScheduleMove,
  type ScheduleRow,
  takeDueSchedules,
} from '../../store/workflow/schedules.ts';
import type { StartCall, Started, WorkflowStarter } from './start-workflow.ts';

/**
 * Starts the runs whose time has come. Every process that works asks once a second; schedules are locked while their runs
 * are started and until they have moved on, and others pass over them. The runs are started in transactions of their own,
 * under the tick as idempotency key: where the process dies in between, the next one finds them and only moves on.
 */

export interface ScheduleDeps {
  readonly db: Db;
  readonly starter: Pick<WorkflowStarter, 'start'>;
  /** Told of a schedule whose run was refused, or could not be started; the latter is tried again. */
  readonly onRefused: (schedule: ScheduleRow, refusal: Started & { kind: 'refused' }) => void;
  readonly onError: (error: unknown) => void;
}

/** Fired side by side, over one connection: their runs are started in the starter's batches. */
const schedulesAtOnce = 100;
/** Looked at in one go; what is left is due in the next second. */
const schedulesMax = 1_000;

export async function fireSchedules(deps: ScheduleDeps): Promise<void> {
  const failed: string[] = [];
  for (let looked = 0; looked < schedulesMax; looked += schedulesAtOnce) {
    if ((await fireSome(deps, failed)) < schedulesAtOnce) return;
  }
}

/** Answers how many were due; those that could not be fired are added to `failed`, and not tried again in this go. */
function fireSome({ db, ...deps }: ScheduleDeps, failed: string[]): Promise<number> {
  return inTransaction(db, async (trx) => {
    const { schedules, nowMs } = await takeDueSchedules(trx, { limit: schedulesAtOnce, failed });
    const moves = await Promise.all(
      schedules.map((schedule) =>
        // One that cannot be fired must not stand in the way of the others.
        fire(deps, schedule, nowMs).catch((error: unknown) => {
          failed.push(schedule.id);
          deps.onError(error);
          return [];
        }),
      ),
    );
    await moveSchedules(trx, moves.flat());
    return schedules.length;
  });
}

async function fire(
  { starter, onRefused }: Pick<ScheduleDeps, 'starter' | 'onRefused'>,
  schedule: DueScheduleRow,
  nowMs: number,
): Promise<ScheduleMove[]> {
  const { firesMs, nextMs } = dueTick(schedule, schedule.nextAt.getTime(), nowMs);
  const { id } = schedule;
  if (firesMs === null) return [{ id, nextMs, firedMs: null, error: null }];
  const tick = new Date(firesMs);
  const started = await starter.start(callOf(schedule, tick));
  if (started.kind === 'accepted') return [{ id, nextMs, firedMs: firesMs, error: null }];
  onRefused(schedule, started);
  const { code, message } = started;
  return [{ id, nextMs, firedMs: null, error: { at: tick.toISOString(), code, message } }];
}

function callOf(schedule: ScheduleRow, tick: Date): StartCall {
  const { id, workspaceId, createdBy: userId } = schedule;
  return {
    credential: { kind: 'trigger', id, workspaceId, userId },
    workflowId: schedule.workflowId,
    trigger: 'schedule',
    body: parseExecuteBody(`{"input":${schedule.input}}`, 'input'),
    idempotencyKey: tick.toISOString(),
    idempotencyProblem: null,
  };
}
