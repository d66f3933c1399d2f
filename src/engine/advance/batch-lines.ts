import type {
  ChangedBatch,
  LineChange,
  LineChanges,
  LockedBatch,
} from '../../core/batch/line-changes.ts';
import type { Send } from '../../db/pipeline.ts';
import { rowSet } from '../../db/row-set.ts';
import { sql } from '../../db/sql.ts';
import { statement } from '../../db/statement.ts';

export type { LineChanges, LockedBatch };

/**
 * Lines of batches: how they become executions and end.
 *
 *     waiting ──admission──▶ processing ──end of its execution──▶ success | failed | canceled
 *        │ └──────────────▶ refused
 *        └──cancel────────▶ canceled
 *
 * Invariants
 * - A line becomes an execution in the transaction that admits it, and ends in the transaction that ends the execution. So a
 *   killed process neither loses nor repeats a line.
 * - Counts change with the lines, under the lock of the batch. The table checks that they add up.
 * - Batches are locked by id, after the queue and before statistics.
 * - `bytes` of a batch are those of its waiting lines. Version 0.1.0 counted the whole file and never less: a batch that it has
 *   advanced counts too much until no line waits.
 */

export async function lockBatches(send: Send, ids: readonly string[]): Promise<LockedBatch[]> {
  const rows = await send(lock, ids);
  return rows.map(({ id, workspaceId, agentId, status, ...counts }) => {
    return { id, workspaceId, agentId, status, counts };
  });
}

type BatchRow = Omit<LockedBatch, 'counts'> & LockedBatch['counts'];

const lock = statement<readonly string[], BatchRow>('batch-lock')`
  select id, workspace_id, agent_id, status, total, waiting, processing, success, failed, canceled, refused
  from batches where id = any(${(ids) => ids}::uuid[]) order by id for update`;

/** The stored bytes of a waiting line, as `bytes`. An upload counts them likewise. */
export const lineBytes = sql`
  octet_length(variables::text) + coalesce(octet_length(labels::text), 0) + coalesce(octet_length(id), 0) as bytes`;

/** A line that waits. */
export interface WaitingLine {
  readonly line: number;
  /** As its batch counts it. */
  readonly bytes: number;
  /** Compact JSON. */
  readonly variables: string;
  /** Compact JSON; null without. */
  readonly labels: string | null;
}

/** The next waiting lines of a locked batch. Ends before their variables exceed `bytesMax`, but not before the first. */
export function readWaitingLines(
  send: Send,
  batchId: string,
  limits: WaitingLimits,
): Promise<WaitingLine[]> {
  return send(readWaiting, { batchId, ...limits });
}

interface WaitingLimits {
  readonly limit: number;
  readonly bytesMax: number;
}

const readWaiting = statement<WaitingLimits & { batchId: string }, WaitingLine>(
  'batch-read-waiting',
)`
  select line, variables, labels, bytes from (
    select line, variables, labels, ${lineBytes},
      sum(octet_length(variables::text)) over (order by line) - octet_length(variables::text) as before
    from (select line, id, variables, labels from batch_lines
      where batch_id = ${({ batchId }) => batchId} and status = 'waiting'
      order by line limit ${({ limit }) => limit}) as next) as sized
  where before < ${({ bytesMax }) => bytesMax}::bigint order by line`;

/** Sends the changes of lines and the counts of their batches. */
export function changeLines(send: Send, { lines, batches }: LineChanges): Promise<unknown>[] {
  return [...(lines.length > 0 ? [send(updateLines, lines)] : []), send(updateBatches, batches)];
}

const changed = rowSet<LineChange>('c', {
  batch_id: ['uuid', (one) => one.batchId],
  line: ['int', (one) => one.line],
  status: ['text', (one) => one.to],
  execution_id: ['uuid', (one) => one.executionId],
  error_code: ['text', (one) => one.errorCode],
  error: ['text', (one) => one.error],
});

// The execution takes over the contents.
const updateLines = statement<readonly LineChange[]>('batch-update-lines')`
  update batch_lines l set status = c.status, execution_id = coalesce(c.execution_id, l.execution_id),
    error_code = c.error_code, error = c.error, variables = null, labels = null, end_user = null
  from ${changed.table}
  where l.batch_id = c.batch_id and l.line = c.line`;

const counted = rowSet<ChangedBatch>('b', {
  id: ['uuid', (one) => one.id],
  waiting: ['int', (one) => one.counts.waiting],
  processing: ['int', (one) => one.counts.processing],
  success: ['int', (one) => one.counts.success],
  failed: ['int', (one) => one.counts.failed],
  canceled: ['int', (one) => one.counts.canceled],
  refused: ['int', (one) => one.counts.refused],
  canceled_because: ['text', (one) => one.canceledBecause],
  advanced_bytes: ['bigint', (one) => one.advancedBytes],
  waiting_for: ['text', (one) => one.waitingFor],
  retry_ms: ['float8', (one) => one.retryMs],
  admits: ['bool', (one) => one.admits],
});

const isOpen = sql`b.waiting + b.processing > 0`;

const updateBatches = statement<readonly ChangedBatch[]>('batch-update')`
  update batches t set waiting = b.waiting, processing = b.processing, success = b.success, failed = b.failed,
    canceled = b.canceled, refused = b.refused,
    bytes = case when b.waiting = 0 then 0 else greatest(0, t.bytes - b.advanced_bytes) end,
    status = case when coalesce(b.canceled_because, t.canceled_because) is not null then 'canceled'
      when ${isOpen} then t.status else 'completed' end,
    canceled_because = coalesce(t.canceled_because, b.canceled_because),
    completed_at = case when not ${isOpen} then coalesce(t.completed_at, clock_timestamp()) end,
    waiting_for = case when b.waiting > 0 then case when b.admits then b.waiting_for else t.waiting_for end end,
    next_at = case when b.admits then clock_timestamp() + b.retry_ms * interval '1 millisecond' else t.next_at end
  from ${counted.table}
  where t.id = b.id`;

/** Cancels all waiting lines of a locked batch. Their contents are removed. */
export async function cancelWaitingLines(
  send: Send,
  batchId: string,
  error: string,
): Promise<void> {
  await send(cancelWaiting, { batchId, error });
}

const cancelWaiting = statement<{ batchId: string; error: string }>('batch-cancel-waiting')`
  update batch_lines set status = 'canceled', error_code = 'CANCELED', error = ${({ error }) => error},
    variables = null, labels = null, end_user = null
  where batch_id = ${({ batchId }) => batchId} and status = 'waiting'`;
