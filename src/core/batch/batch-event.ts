import type { NewEvent } from '../event/event.ts';
import { toId } from '../id.ts';
import type { BatchCounts, BatchStatus } from './batch.ts';

/** A batch of which nothing waits or runs any more. */
export interface ReportedBatch {
  readonly id: string;
  readonly workspaceId: string;
  readonly agentId: string;
  readonly status: Exclude<BatchStatus, 'processing'>;
  readonly counts: BatchCounts;
  readonly atMs: number;
}

export function batchEvent(ended: ReportedBatch): NewEvent {
  const { id, workspaceId, agentId, status, counts, atMs } = ended;
  const data = { batchId: toId('batch', id), agentId: toId('agent', agentId), status, counts };
  return {
    ...{ workspaceId, type: 'batch.completed', atMs, subject: id, agentId: null, user: null },
    data: JSON.stringify(data),
  };
}
