import { canceledText } from '../../../core/batch/batch.ts';
import { endEvents } from '../../../core/batch/line-changes.ts';
import { CallFailure } from '../../../core/failure.ts';
import { toId } from '../../../core/id.ts';
import type { Actor } from '../../../core/people/audit.ts';
import { readClock } from '../../../db/clock.ts';
import type { Db } from '../../../db/database.ts';
import type { Notifications } from '../../../db/notifications.ts';
import type { Pipelines, Send } from '../../../db/pipeline.ts';
import { begin, commit } from '../../../db/statements.ts';
import {
  cancelWaitingLines,
  changeLines,
  lockBatches,
} from '../../../engine/advance/batch-lines.ts';
import type { Canceler } from '../../../engine/complete/cancel.ts';
import { sendEvents } from '../../../engine/complete/events.ts';
import { sendAudit } from '../../people/statements/audit-statements.ts';
import { listRunningLines } from '../statements/batches.ts';

export interface CancelBatchDeps {
  readonly db: Db;
  readonly pipelines: Pipelines;
  readonly canceler: Canceler;
  readonly notifications: Pick<Notifications, 'publish'>;
}

const canceledAtOnce = 500;

/**
 * Cancels a batch: its waiting lines in one transaction, then its running executions, each like any other. If the process dies
 * in between, workers cancel the rest (`batch-runner.ts`). Throws if the batch has ended.
 */
export async function cancelBatch(deps: CancelBatchDeps, id: string, actor: Actor): Promise<void> {
  const { db, pipelines, canceler, notifications } = deps;
  const nowMs = await readClock(db);
  const eventsQueued = await pipelines.use((send) => cancelWaiting(send, { id, actor, nowMs }));
  if (eventsQueued) notifications.publish('cueline_event_queued');
  for (let after = 0; ; ) {
    const running = await listRunningLines(db, id, { after, limit: canceledAtOnce });
    await canceler.cancelAll(running.map(({ executionId }) => executionId));
    const last = running.at(-1);
    if (!last || running.length < canceledAtOnce) return;
    after = last.line;
  }
}

/** Returns whether an event must be sent. */
async function cancelWaiting(
  send: Send,
  { id, actor, nowMs }: { readonly id: string; readonly actor: Actor; readonly nowMs: number },
): Promise<boolean> {
  const [, [batch]] = await Promise.all([send(begin), lockBatches(send, [id])]);
  if (batch?.status !== 'processing') {
    await send(commit);
    throw new CallFailure('ALREADY_ENDED', 'The batch has already ended.');
  }
  const { waiting, canceled } = batch.counts;
  const change = {
    ...({ id, canceledBecause: 'requested', waitingFor: null, advancedBytes: 0 } as const),
    ...{ retryMs: 0, admits: false },
    counts: { ...batch.counts, waiting: 0, canceled: canceled + waiting },
  };
  const sent = [
    cancelWaitingLines(send, id, canceledText.requested),
    ...changeLines(send, { lines: [], batches: [change] }),
    sendAudit(send, actor, {
      ...{ action: 'batch.cancel', subject: toId('batch', id) },
      details: { agentId: toId('agent', batch.agentId), lines: waiting + batch.counts.processing },
    }),
  ];
  // Last, because the counter of the workspace stays locked until the commit.
  const eventsQueued = sendEvents(send, endEvents(batch, change, nowMs));
  await Promise.all([...sent, eventsQueued, send(commit)]);
  return eventsQueued;
}
