import type { NewEvent } from '../event/event.ts';
import type { BatchCancelReason, BatchCounts, LineStatus, WaitReason } from './batch.ts';
import { batchEvent } from './batch-event.ts';

/**
 * How a transaction that holds the lock of a batch changes its lines and so its counts. The batch ends with its last line:
 * the event of its end belongs to the same transaction.
 */

/** A batch as the transaction found it under its lock. */
export interface LockedBatch {
  readonly id: string;
  readonly workspaceId: string;
  readonly agentId: string;
  readonly status: 'uploading' | 'processing' | 'completed' | 'canceled';
  readonly counts: BatchCounts;
}

export interface LineChange {
  readonly batchId: string;
  readonly line: number;
  readonly from: LineStatus;
  readonly to: LineStatus;
  /** Of a line that becomes an execution; null keeps it. */
  readonly executionId: string | null;
  readonly errorCode: string | null;
  /** Of a line without an execution. */
  readonly error: string | null;
}

/** A batch after the changes. */
export interface ChangedBatch {
  readonly id: string;
  readonly counts: BatchCounts;
  /** Null: the status stays. */
  readonly canceledBecause: BatchCancelReason | null;
  readonly waitingFor: WaitReason | null;
  /** Of the lines that waited before and are in the changes. */
  readonly advancedBytes: number;
  /** When further lines may start. */
  readonly retryMs: number;
  /** Whether this transaction admits lines. Otherwise `waitingFor` and the time of the next ones stay. */
  readonly admits: boolean;
}

export interface LineChanges {
  readonly lines: readonly LineChange[];
  readonly batches: readonly ChangedBatch[];
}

/** The counts after these changes. */
export function changedCounts(counts: BatchCounts, changes: readonly LineChange[]): BatchCounts {
  const changed = { ...counts };
  for (const { from, to } of changes) {
    changed[from]--;
    changed[to]++;
  }
  return changed;
}

/** The event of the end of a batch; empty while lines wait or run, or if it had ended before. */
export function endEvents(
  { id, workspaceId, agentId, status, counts: before }: LockedBatch,
  { counts, canceledBecause }: Pick<ChangedBatch, 'counts' | 'canceledBecause'>,
  atMs: number,
): NewEvent[] {
  const isOpen = (of: BatchCounts) => of.waiting + of.processing > 0;
  if (!isOpen(before) || isOpen(counts)) return [];
  const isCanceled = status === 'canceled' || canceledBecause !== null;
  return [
    batchEvent({
      ...{ id, workspaceId, agentId, counts, atMs },
      status: isCanceled ? 'canceled' : 'completed',
    }),
  ];
}
