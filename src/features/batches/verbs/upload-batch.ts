import { createHash } from 'node:crypto';
import {
  type BatchStorageLimits,
  batchBytesMax,
  batchLinesMax,
  unrunLinesMax,
} from '../../../core/batch/batch.ts';
import { type Compute, inlineCharsMax } from '../../../core/compute.ts';
import { type AgentAtAdmission, suppliedVariables } from '../../../core/execution/decide.ts';
import {
  examineVariablesJob,
  type QuestionedAgent,
  questionOf,
  type VariablesJob,
  variableProblemText,
} from '../../../core/execution/examine-variables.ts';
import { CallFailure, invalidRequest } from '../../../core/failure.ts';
import { uuid7 } from '../../../core/id.ts';
import { labelsJson } from '../../../core/labels.ts';
import { storable } from '../../../core/storable-text.ts';
import { readClock } from '../../../db/clock.ts';
import type { Db } from '../../../db/database.ts';
import { lineSplitter, type SplitLine } from '../rules/line-splitter.ts';
import { type ReadLine, readLineBytes, readLineBytesJob } from '../rules/read-line.ts';
import {
  appendLines,
  beginUpload,
  deleteUpload,
  type EarlierUpload,
  finishUpload,
  type NewLine,
  type NewUpload,
  resumeUpload,
  type StoredForLater,
  type StoredLine,
  type UploadInProgress,
} from '../statements/uploads.ts';

/**
 * Uploads a batch. Memory is bounded by one line, the lines of one transaction, and the ids of the file.
 *
 * Outcomes: a batch; or the first one again, for the same file with the same idempotency key; or nothing, if the file is empty
 * or exceeds a limit. An invalid line is stored as refused and does not affect the others.
 *
 * If the client leaves before the end, an upload with an idempotency key stays for a retry, which skips the ids that are stored.
 * Any other upload is removed.
 */

export interface UploadInput
  extends Omit<NewUpload, 'id' | 'upload' | 'promptVersionId' | 'rerunOf'> {
  readonly file: AsyncIterable<Buffer>;
  /** What the variables of each line must fit. */
  readonly target: UploadTarget;
  readonly compute: Compute;
  readonly lineBytesMax: number;
  readonly storage: BatchStorageLimits;
}

type UploadTarget = QuestionedAgent &
  Pick<AgentAtAdmission, 'requiredVariables'> &
  Pick<VariablesJob, 'allowed'>;

export interface Uploaded {
  readonly batchId: string;
  readonly replayed: boolean;
}

/** Compares the file with that of an earlier upload with the same idempotency key. */
export async function replayUpload(
  file: AsyncIterable<Buffer>,
  { id, digest }: Pick<EarlierUpload, 'id'> & { readonly digest: Buffer },
): Promise<Uploaded> {
  const hash = createHash('sha256');
  for await (const chunk of limited(file, otherFile)) hash.update(chunk);
  if (!hash.digest().equals(digest)) throw otherFile();
  return { batchId: id, replayed: true };
}

export function otherFile(): CallFailure {
  const message = 'This Idempotency-Key was used with another file.';
  return new CallFailure('IDEMPOTENCY_KEY_REUSED', message);
}

export async function uploadBatch(
  db: Db,
  earlier: EarlierUpload | null,
  { file, target, compute, lineBytesMax, storage, ...input }: UploadInput,
): Promise<Uploaded> {
  const nowMs = await readClock(db);
  const { workspaceId } = input;
  const own = { id: earlier?.id ?? uuid7(nowMs), upload: uuid7(nowMs), workspaceId };
  const stored = earlier ? await resumeUpload(db, own) : { bytes: 0, lines: [] };
  const isNew = !earlier && {
    ...{ ...input, ...own, promptVersionId: target.versionId, rerunOf: null },
  };
  if (!stored || (isNew && !(await beginUpload(db, isNew)))) throw overtaken();
  const lines = new UploadedLines(db, own, { target, compute, lineBytesMax, storage, stored });
  const hash = createHash('sha256');
  try {
    for await (const chunk of limited(file, () => tooLarge(`${batchBytesMax} bytes`))) {
      hash.update(chunk);
      await lines.add(chunk);
    }
    await lines.end();
    if (lines.isEmpty) throw invalidRequest('The upload contains no line.');
    if (!(await finishUpload(db, { ...own, digest: hash.digest() }))) throw overtaken();
    return { batchId: own.id, replayed: false };
  } catch (error) {
    // A refused file must not run. An interrupted one waits for its retry, if a retry can name it.
    const isRefused = error instanceof CallFailure && error.code !== 'MALFORMED_BODY';
    if (isRefused || input.idempotencyKey === null) await deleteUpload(db, own);
    throw error;
  }
}

async function* limited(
  file: AsyncIterable<Buffer>,
  failure: () => CallFailure,
): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  for await (const chunk of file) {
    bytes += chunk.length;
    if (bytes > batchBytesMax) throw failure();
    yield chunk;
  }
}

function tooLarge(limit: string): CallFailure {
  return new CallFailure(
    'BODY_TOO_LARGE',
    `The upload has more than ${limit}. None of its lines is executed.`,
  );
}

export function overtaken(): CallFailure {
  const message = 'Another upload with this Idempotency-Key has taken over.';
  return new CallFailure('CONFLICT', message);
}

/** Lines of one transaction. */
const storedMax = 500;
const storedCharsMax = 2_097_152;

/** The lines of an upload on their way into the database. */
class UploadedLines {
  readonly #db: Db;
  readonly #own: UploadInProgress;
  readonly #storage: BatchStorageLimits;
  readonly #target: UploadTarget;
  readonly #compute: Compute;
  readonly #splitter: ReturnType<typeof lineSplitter>;
  /** Ids that an interrupted upload has stored and this one has not repeated yet. */
  readonly #unrepeated: Set<string>;
  readonly #usedNumbers: Set<number>;
  readonly #lastUsedNumber: number;
  readonly #ids = new Set<string>();
  #bytes: number;
  #count: number;
  #lastLine: number;
  #pending: NewLine[] = [];
  #pendingChars = 0;

  constructor(
    db: Db,
    own: UploadInProgress,
    options: {
      readonly target: UploadTarget;
      readonly compute: Compute;
      readonly lineBytesMax: number;
      readonly storage: BatchStorageLimits;
      readonly stored: { readonly bytes: number; readonly lines: readonly StoredLine[] };
    },
  ) {
    const { bytes, lines } = options.stored;
    this.#db = db;
    this.#own = own;
    this.#storage = options.storage;
    this.#target = options.target;
    this.#compute = options.compute;
    this.#splitter = lineSplitter(options.lineBytesMax);
    this.#unrepeated = new Set(lines.flatMap(({ id }) => id ?? []));
    this.#usedNumbers = new Set(lines.map(({ line }) => line));
    this.#lastUsedNumber = lines.at(-1)?.line ?? 0;
    this.#bytes = bytes;
    this.#count = lines.length;
    this.#lastLine = 0;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  async add(chunk: Buffer): Promise<void> {
    for (const line of this.#splitter.add(chunk)) await this.#addLine(line);
  }

  async end(): Promise<void> {
    for (const line of this.#splitter.end()) await this.#addLine(line);
    await this.#store();
  }

  async #addLine({ number, bytes }: SplitLine): Promise<void> {
    const { workspaceId } = this.#target;
    const read =
      bytes !== null && bytes.length > inlineCharsMax
        ? await this.#compute.run(workspaceId, readLineBytesJob, bytes)
        : readLineBytes(bytes);
    const { id } = read;
    if (id !== null && this.#unrepeated.delete(id)) {
      this.#ids.add(id);
      return;
    }
    this.#count++;
    if (this.#count > batchLinesMax) throw tooLarge(`${batchLinesMax} lines`);
    const line = this.#numberOf(number);
    const stored = await this.#checked(line, read);
    if (id !== null) this.#ids.add(id);
    if (stored.variables !== null) this.#bytes += stored.bytes;
    if (this.#bytes > batchBytesMax) throw tooLarge(`${batchBytesMax} bytes`);
    this.#pending.push(stored);
    this.#pendingChars += stored.variables?.length ?? 0;
    if (this.#pending.length >= storedMax || this.#pendingChars >= storedCharsMax) {
      await this.#store();
    }
  }

  /** The number in the file. A retry may send only what is missing: its lines follow those that are stored. */
  #numberOf(number: number): number {
    const isFree = number > this.#lastLine && !this.#usedNumbers.has(number);
    const line = isFree ? number : Math.max(this.#lastLine, this.#lastUsedNumber) + 1;
    this.#lastLine = line;
    return line;
  }

  async #checked(line: number, { id, body }: ReadLine): Promise<NewLine> {
    const refused = (errorCode: string, error: string): NewLine => {
      const none = { variables: null, labels: null, user: null };
      return { line, id, bytes: 0, ...none, errorCode, error: storable(error) };
    };
    if (id !== null && this.#ids.has(id)) {
      return refused('DUPLICATE_ID', 'An earlier line has the same id.');
    }
    const read = suppliedVariables(body, this.#target);
    if ('code' in read) return refused(read.code, read.message);
    const question = questionOf(this.#target, read.variables);
    if (question) {
      const { workspaceId, allowed } = this.#target;
      const job = { ...question, allowed };
      const { problem } = await this.#compute.run(workspaceId, examineVariablesJob, job);
      if (problem) return refused('INVALID_VARIABLES', variableProblemText(problem).message);
    }
    const labels = body.kind === 'variables' ? body.labels : null;
    const stored = { id, variables: read.variables.json, labels: labelsJson(labels) };
    return {
      ...{ line, ...stored, bytes: bytesOf(stored) },
      ...{ user: labels?.user ?? null, errorCode: null, error: null },
    };
  }

  async #store(): Promise<void> {
    const lines = this.#pending;
    this.#pending = [];
    this.#pendingChars = 0;
    if (lines.length === 0) return;
    const check = (stored: StoredForLater) => requireRoom(stored, this.#storage);
    if (!(await appendLines(this.#db, this.#own, lines, check))) throw overtaken();
  }
}

export function bytesOf(texts: Readonly<Record<string, string | null>>): number {
  return Object.values(texts).reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0);
}

export function requireRoom(
  stored: StoredForLater,
  { linesMax, bytesMax }: BatchStorageLimits,
): void {
  const full = (
    [
      ['waitingLines', stored.lines, linesMax, 'lines of batches that wait'],
      ['waitingBytes', stored.bytes, bytesMax, 'bytes of batches that wait'],
      ['unrunLines', stored.unrun, unrunLinesMax, 'lines refused or canceled in 24 hours'],
    ] as const
  ).find(([, count, max]) => count > max);
  if (!full) return;
  const [resource, , limit, what] = full;
  throw new CallFailure(
    'BATCH_LIMIT_EXCEEDED',
    `With this upload, the workspace would have more than ${limit} ${what}. None of its lines is executed. Upload it again when others have ended.`,
    { retryAfter: 60, limitedBy: { scope: 'workspace', resource, limit } },
  );
}
