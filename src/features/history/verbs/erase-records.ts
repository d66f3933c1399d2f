import type { Db } from '../../../db/database.ts';
import type { Pipelines } from '../../../db/pipeline.ts';
import { deleteIdempotencyOf } from '../../../engine/admit/idempotency.ts';
import { forgetExecutions } from '../../../engine/complete/events.ts';
import type { RunPaced } from '../../../engine/transaction/paced-transactions.ts';
import { deleteRecords } from '../statements/deletion.ts';
import { recordErasureProgress } from '../statements/erasures.ts';

export interface ErasedBatch {
  readonly erasureId: string;
  /** At most `deletedMax`. */
  readonly ids: readonly string[];
  /** Everything from this id on has been scanned. */
  readonly downTo: string;
}

/**
 * Deletes the ended ones of these records and stores the progress in the same transaction. Their idempotency keys go first,
 * because their digest would otherwise outlive the record. Returns the number of deleted records; undefined once the round
 * must end.
 */
export async function eraseRecords(
  { db, pipelines }: { readonly db: Db; readonly pipelines: Pipelines },
  { erasureId, ids, downTo }: ErasedBatch,
  runPaced: RunPaced,
): Promise<number | undefined> {
  const deletedRecords = await runPaced(async () => {
    if (ids.length > 0) await deleteIdempotencyOf(db, ids);
    return deleteRecords(pipelines, { ids }, (send, deleted) => [
      forgetExecutions(send, deleted),
      recordErasureProgress(send, { erasureId, ids, downTo, deleted: deleted.length }),
    ]);
  });
  return deletedRecords?.length;
}
