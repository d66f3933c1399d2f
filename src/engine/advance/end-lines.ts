import {
  changedCounts,
  endEvents,
  type LineChange,
  type LineChanges,
  type LockedBatch,
} from '../../core/batch/line-changes.ts';
import type { NewEvent } from '../../core/event/event.ts';
import type { EndedExecution } from '../../core/execution/ended-execution.ts';
import type { EndStatus } from '../../core/execution/execution.ts';
import type { LiveExecution } from '../../core/execution/queued-execution.ts';

interface LineEnds {
  readonly changes: LineChanges;
  readonly events: readonly NewEvent[];
}

/** How lines of batches end with their executions; null if none of them belongs to a batch. */
export function planLineEnds(
  executions: readonly Pick<LiveExecution, 'id' | 'batchLine'>[],
  ended: readonly EndedExecution[],
  locked: readonly LockedBatch[],
): LineEnds | null {
  if (locked.length === 0) return null;
  const lineOf = new Map(executions.map(({ id, batchLine }) => [id, batchLine]));
  const lines = ended.flatMap(({ id, status, errorCode }): LineChange[] => {
    const of = lineOf.get(id);
    if (!of) return [];
    const change = { from: 'processing', to: lineStatusOf(status) } as const;
    return [{ ...of, ...change, executionId: null, errorCode, error: null }];
  });
  if (lines.length === 0) return null;
  const atMs = Math.max(...ended.map(({ completedMs }) => completedMs));
  const byBatch = Map.groupBy(lines, ({ batchId }) => batchId);
  const changes = locked.flatMap((batch) => {
    const own = byBatch.get(batch.id);
    return own ? [{ batch, counts: changedCounts(batch.counts, own) }] : [];
  });
  return {
    changes: {
      lines,
      batches: changes.map(({ batch: { id }, counts }) => {
        const none = { canceledBecause: null, waitingFor: null, advancedBytes: 0, retryMs: 0 };
        return { id, counts, ...none, admits: false };
      }),
    },
    events: changes.flatMap(({ batch, counts }) =>
      endEvents(batch, { counts, canceledBecause: null }, atMs),
    ),
  };
}

/** An execution that was accepted is never refused later. */
function lineStatusOf(status: EndStatus): 'success' | 'failed' | 'canceled' {
  if (status === 'success' || status === 'canceled') return status;
  return 'failed';
}
