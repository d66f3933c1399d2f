import { parseExecuteBody } from '../../../core/agent/variables.ts';
import { storedLabels } from '../../../core/labels.ts';
import { type Db, inTransaction } from '../../../db/database.ts';
import { dueTick } from '../rules/schedule.ts';
import {
  claimDueSchedules,
  type DueScheduleRow,
  moveSchedules,
  type ScheduleMove,
  type ScheduleRow,
} from '../statements/schedules.ts';
import type { StartCall, Started } from './start-call.ts';
import type { WorkflowStarter } from './start-workflow.ts';

/**
 * Starts workflow runs of due schedules. Every worker process polls once a second. A due schedule stays locked until its
 * next tick is written, and other processes skip it. The start is a transaction of its own with the tick as idempotency
 * key: if the process dies in between, the next one finds the workflow run and only writes the next tick.
 */

export interface ScheduleDeps {
  readonly db: Db;
  readonly starter: Pick<WorkflowStarter, 'start'>;
  /** The start was refused. After an error, see `onError`, it is retried. */
  readonly onRefused: (schedule: ScheduleRow, refusal: Started & { kind: 'refused' }) => void;
  readonly onError: (error: unknown) => void;
}

/** Schedules of one transaction. They fire in parallel, in the batches of the starter. */
const schedulesPerBatch = 100;
/** Schedules of one poll. The next poll takes the others. */
const schedulesMax = 1_000;

export async function fireSchedules(deps: ScheduleDeps): Promise<void> {
  const failed: string[] = [];
  for (let fired = 0; fired < schedulesMax; fired += schedulesPerBatch) {
    if ((await fireBatch(deps, failed)) < schedulesPerBatch) return;
  }
}

/** Returns the number of due schedules. Those that fail are added to `failed`, and this poll does not retry them. */
function fireBatch({ db, ...deps }: ScheduleDeps, failed: string[]): Promise<number> {
  return inTransaction(db, async (trx) => {
    const { schedules, nowMs } = await claimDueSchedules(trx, { limit: schedulesPerBatch, failed });
    const moves = await Promise.all(
      schedules.map((schedule) =>
        // One failure must not block the others.
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
  const { id, workspaceId, createdBy: userId, maxCostUsd } = schedule;
  const limit = maxCostUsd === null ? '' : `,"maxCostUSD":${maxCostUsd}`;
  const body = parseExecuteBody(`{"input":${schedule.input}${limit}}`, 'input');
  return {
    credential: { kind: 'trigger', id, workspaceId, userId },
    workflowId: schedule.workflowId,
    trigger: 'schedule',
    body: body.kind === 'variables' ? { ...body, labels: storedLabels(schedule.labels) } : body,
    idempotencyKey: tick.toISOString(),
    idempotencyProblem: null,
  };
}
