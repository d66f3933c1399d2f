import { toId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import type { BatchRow, ResultRow } from '../../../store/batch/batches.ts';
import { visibleError } from '../../access/visible-resources.ts';

/** A batch in API format. A key without `read` does not see the user. */
export function batchWire({ rights }: Caller, row: BatchRow) {
  const { total, waiting, processing, success, failed, canceled, refused } = row;
  const { status, waitingFor, canceledBecause, promptVersionLabel } = row;
  const executedBy = rights.includes('read') ? row.executedBy : null;
  return {
    ...{ batchId: toId('batch', row.id), agentId: toId('agent', row.agentId), status },
    counts: { total, waiting, processing, success, failed, canceled, refused },
    ...{ waitingFor, canceledBecause },
    promptVersionId: toId('version', row.promptVersionId),
    promptVersionLabel,
    apiKeyId: row.apiKeyId === null ? null : toId('key', row.apiKeyId),
    executedBy: executedBy === null ? null : toId('user', executedBy),
    createdAt: row.createdAt.toISOString(),
    completedAt: row.completedAt?.toISOString() ?? null,
  };
}

/** The result of a line in API format, as far as the caller may see it. */
export function resultWire(caller: Caller, row: ResultRow) {
  const { line, id, status, executionId, outputText, errorCode } = row;
  return {
    ...{ line, id, status },
    executionId: executionId === null ? null : toId('execution', executionId),
    ...{ outputText, error: visibleError(caller, row.error), errorCode },
  };
}
