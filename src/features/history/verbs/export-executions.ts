import type { Execution } from '../../../core/execution/execution-fields.ts';
import { CallFailure } from '../../../core/failure.ts';
import {
  before,
  type IdRange,
  longPieces,
  type Piece,
  rangesOf,
  readInOneGo,
  sparsePieces,
  windowOf,
} from '../../../core/history/history-range.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { isStatementTimeout } from '../../../db/database-error.ts';
import { hasRecentErasure } from '../statements/erasures.ts';
import { countRecords } from '../statements/history-counts.ts';
import type { HistoryRequest } from '../statements/history-filter.ts';
import {
  findExistingRecords,
  nextRecords,
  openSnapshot,
  readFullRecords,
} from '../statements/records.ts';
import { breakDown, countPieces } from './count-history.ts';

/**
 * Exports all matching records, newest first, from one snapshot and in batches that fit in memory. The next batch is read
 * only when the consumer asks for it.
 */

export interface ExportRequest extends HistoryRequest {
  readonly range: IdRange;
  /** Continues an aborted export after this execution. */
  readonly after: string | null;
  /** How long the snapshot may stay open, in milliseconds. */
  readonly msMax: number;
  /** Throws if the snapshot is too old. */
  readonly check?: (snapshot: Db) => Promise<void>;
}

/** The export exceeded its time. An old snapshot keeps the database from vacuuming. */
export class ExportTooSlow extends Error {}

export async function* exportExecutions(
  db: Db,
  request: ExportRequest,
): AsyncGenerator<Execution[], void, undefined> {
  const endsAtMs = performance.now() + request.msMax;
  const snapshot = await openSnapshot(db);
  const readBatch = batchReader(snapshot, request);
  try {
    await request.check?.(snapshot.trx);
    for (const ranges of grouped(await piecesOf(snapshot.trx, request))) {
      for (let rest: readonly IdRange[] = ranges; rest.length > 0; ) {
        if (performance.now() > endsAtMs) throw new ExportTooSlow();
        const { rows, remaining } = await readBatch(rest);
        if (rows.length > 0) yield rows;
        rest = remaining;
      }
    }
  } finally {
    await snapshot.close();
  }
}

/**
 * Leaves out records that were deleted after the snapshot was taken. Ends with an error if they were erased: the client must
 * notice that what it has received may contain erased records.
 */
export async function* withoutDeleted(
  db: Db,
  { workspaceId, msMax }: Pick<ExportRequest, 'msMax'> & { readonly workspaceId: string },
  batches: AsyncIterable<readonly Execution[]>,
): AsyncGenerator<Execution[], void, undefined> {
  for await (const rows of batches) {
    const ids = rows.map(({ id }) => id);
    const existing = new Set(await findExistingRecords(db, ids));
    const left = rows.filter(({ id }) => existing.has(id));
    if (left.length < rows.length && (await hasRecentErasure(db, workspaceId, msMax))) {
      throw new CallFailure('UNAVAILABLE', erasedMeanwhile, { retryAfter: 1 });
    }
    yield left;
  }
}

const erasedMeanwhile = 'Records were erased during the export. Start it again.';

interface Batch {
  readonly rows: Execution[];
  /** What has not been scanned. */
  readonly remaining: readonly IdRange[];
}

/**
 * Reads the next batch. The length of the records to scan is unknown: after a statement timeout, it scans half as many
 * records per batch from then on.
 */
function batchReader(
  { trx, recover }: Awaited<ReturnType<typeof openSnapshot>>,
  request: ExportRequest,
): (ranges: readonly IdRange[]) => Promise<Batch> {
  const countable = { ...request, contents: null };
  let scannedMax = Number.POSITIVE_INFINITY;

  async function read(ranges: readonly IdRange[]): Promise<Batch> {
    const { scanned, rest } = await nextRecords(trx, countable, ranges, scannedMax);
    const page = { ranges: scanned, take: rowsMax, bytesMax };
    const rows = await readFullRecords(trx, request, page);
    const last = rows.at(-1)?.id;
    return { rows, remaining: last ? ranges.flatMap((range) => before(last, range)) : rest };
  }

  return async (ranges) => {
    for (;;) {
      try {
        return await read(ranges);
      } catch (error) {
        if (!isStatementTimeout(error)) throw error;
        await recover();
        const scanned = Math.min(scannedMax, await countRecords(trx, countable, ranges));
        if (scanned <= 1) throw error;
        scannedMax = Math.floor(scanned / 2);
      }
    }
  };
}

const rowsMax = 200;
/** A batch ends with the record that exceeds this. */
const bytesMax = 1_000_000;

/** The ranges that contain matches, each short enough for one statement. */
async function piecesOf(trx: Trx, request: ExportRequest): Promise<Piece[]> {
  const { range, after, contents } = request;
  const rest = after !== null && after < range.toId ? { ...range, toId: after } : range;
  const countable = { ...request, contents: null };
  const pieces = await countPieces(trx, countable, rest);
  const matching = pieces.reduce((sum, piece) => sum + piece.matching, 0);
  const all = windowOf(pieces, 0, matching);
  const select = contents === null ? sparsePieces : longPieces;
  return (await breakDown(trx, countable, all, matching, select)).pieces;
}

/** Groups short pieces. Otherwise each record of a rare kind would need its own statement. */
function grouped(pieces: readonly Piece[]): IdRange[][] {
  const groups: IdRange[][] = [];
  let [group, read]: [Piece[], number] = [[], 0];
  for (const piece of pieces) {
    if (group.length > 0 && (group.length >= piecesMax || read + piece.all > readInOneGo)) {
      groups.push(rangesOf(group));
      [group, read] = [[], 0];
    }
    group.push(piece);
    read += piece.all;
  }
  return group.length > 0 ? [...groups, rangesOf(group)] : groups;
}

const piecesMax = 200;
