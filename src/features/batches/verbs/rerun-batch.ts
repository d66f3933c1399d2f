import { createHash } from 'node:crypto';
import { restoreFiles } from '../../../core/agent/stored-files.ts';
import type { BatchStorageLimits } from '../../../core/batch/batch.ts';
import { CallFailure } from '../../../core/failure.ts';
import { uuid7 } from '../../../core/id.ts';
import { labelsJson } from '../../../core/labels.ts';
import { readClock } from '../../../db/clock.ts';
import type { Db } from '../../../db/database.ts';
import { refuseDuringErasure } from '../../../engine/read/open-erasures.ts';
import type { BatchRow, FailedLine } from '../statements/batches.ts';
import {
  appendLines,
  beginUpload,
  deleteUpload,
  type EarlierUpload,
  finishUpload,
  type NewLine,
  type NewUpload,
  resumeUpload,
  type UploadInProgress,
} from '../statements/uploads.ts';
import { bytesOf, otherFile, overtaken, requireRoom, type Uploaded } from './upload-batch.ts';

/**
 * Runs the failed lines of an ended batch again: an upload whose lines come from the records instead of a file. It has the
 * states and limits of an upload, and a call with the same idempotency key takes over or returns the batch.
 *
 * A line whose variables retention or an erasure has removed is stored as refused, and says so.
 */

export interface RerunInput extends Omit<NewUpload, 'id' | 'upload' | 'fileName' | 'rerunOf'> {
  readonly storage: BatchStorageLimits;
  /** The next failed lines of a batch after one. */
  readonly readLines: (batchId: string, after: number) => Promise<readonly FailedLine[]>;
}

export async function rerunBatch(
  db: Db,
  { id: rerunOf, fileName, completedAt, counts }: RerunBatch,
  earlier: EarlierUpload | null,
  { storage, readLines, ...input }: RerunInput,
): Promise<Uploaded> {
  const digest = createHash('sha256').update(`failed lines of ${rerunOf}`).digest();
  if (earlier && earlier.rerunOf !== rerunOf) throw otherFile();
  if (earlier?.digest) return { batchId: earlier.id, replayed: true };
  if (completedAt === null) throw notPossible('The batch has not ended.');
  if (counts.failed === 0) throw notPossible('No line of the batch has failed.');
  const { workspaceId } = input;
  await refuseDuringErasure(db, workspaceId);
  const nowMs = await readClock(db);
  const own = { id: earlier?.id ?? uuid7(nowMs), upload: uuid7(nowMs), workspaceId };
  const stored = earlier ? await resumeUpload(db, own) : { bytes: 0, lines: [] };
  const isNew = !earlier && { ...input, ...own, fileName, rerunOf };
  if (!stored || (isNew && !(await beginUpload(db, isNew)))) throw overtaken();
  try {
    const copied = stored.lines.map(({ line }) => line);
    await copyLines(db, own, { rerunOf, storage, readLines, copied });
    if (!(await finishUpload(db, { ...own, digest }))) throw overtaken();
    return { batchId: own.id, replayed: false };
  } catch (error) {
    if (error instanceof CallFailure || input.idempotencyKey === null) await deleteUpload(db, own);
    throw error;
  }
}

type RerunBatch = Pick<BatchRow, 'id' | 'fileName' | 'completedAt'> & {
  readonly counts: Pick<BatchRow, 'failed'>;
};

function notPossible(message: string): CallFailure {
  return new CallFailure('CONFLICT', message);
}

async function copyLines(
  db: Db,
  own: UploadInProgress,
  options: Pick<RerunInput, 'storage' | 'readLines'> & {
    readonly rerunOf: string;
    readonly copied: readonly number[];
  },
): Promise<void> {
  const copied = new Set(options.copied);
  let hasVariables = copied.size > 0;
  for (let after = 0; ; ) {
    const failed = await options.readLines(options.rerunOf, after);
    const last = failed.at(-1);
    if (!last) break;
    after = last.line;
    const lines = failed.filter(({ line }) => !copied.has(line)).map(copyOf);
    hasVariables ||= lines.some(({ variables }) => variables !== null);
    const isStored = await appendLines(db, own, lines, (all) => requireRoom(all, options.storage));
    if (!isStored) throw overtaken();
  }
  if (!hasVariables) throw notPossible('The variables of the failed lines are no longer stored.');
}

function copyOf({ line, id, inputVariables, fileData, ...labels }: FailedLine): NewLine {
  if (inputVariables === null) {
    const none = { bytes: 0, variables: null, labels: null, user: null };
    const error = 'The variables of the line are no longer stored.';
    return { line, id, ...none, errorCode: 'CONFLICT', error };
  }
  const hasLabels = Object.values(labels).some((label) => label !== null);
  const stored = {
    ...{ id, variables: restoreFiles(inputVariables, fileData) },
    labels: labelsJson(hasLabels ? labels : null),
  };
  const none = { errorCode: null, error: null };
  return { line, ...stored, bytes: bytesOf(stored), user: labels.user, ...none };
}
