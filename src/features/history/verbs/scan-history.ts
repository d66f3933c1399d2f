import {
  type BucketLevel,
  before,
  downTo,
  type IdRange,
  longPieces,
  type Piece,
  rangesOf,
  readInOneGo,
  type Window,
  windowOf,
} from '../../../core/history/history-range.ts';
import type { TokenSets } from '../../../core/history/search-tokens.ts';
import { sortedMax } from '../../../core/history/sort-order.ts';
import type { Trx } from '../../../db/database.ts';
import { isStatementTimeout } from '../../../db/database-error.ts';
import { enclosingRange, isIndexed, isPickedByIndex } from '../statements/history-filter.ts';
import { nextRecords, type openSnapshot } from '../statements/records.ts';
import {
  type Candidates,
  findCandidates,
  readCoverage,
  tokenSetsOf,
} from '../statements/search-index.ts';
import { breakDown, countPieces } from './count-history.ts';
import type { ListRequest } from './history-page.ts';

/**
 * Looks at the records of a request newest first, in batches from one snapshot. A batch is as large as the time for one
 * allows, so that no request is rejected for its size and none holds a connection much longer than a page may take. As far
 * as the search index covers the records, a batch takes those that it finds by words and values, else all.
 */

export interface SearchPace {
  /** How long a page may take to fill, in milliseconds. It scans at least one batch. */
  readonly pageMs: number;
  /** How long a history of more than `countedMax` candidates is counted for one page, in milliseconds. */
  readonly countMs: number;
  readonly countedMax: number;
  /** The number of records in the first batch. */
  readonly batchSize: number;
  /** The maximum number of matches that are sorted or summed up. */
  readonly sortedMax: number;
}

export const defaultPace: SearchPace = {
  ...{ pageMs: 5_000, countMs: 150 },
  ...{ countedMax: 20_000, batchSize: 1_000, sortedMax },
};

const batchMs = 250;
const batchMin = 50;
const batchMax = 20_000;
/** Matches whose places are looked up in the counts together. */
const countedAtOnce = 100_000;

type Snapshot = Awaited<ReturnType<typeof openSnapshot>>;

interface Scanned {
  readonly scanned: readonly IdRange[];
  readonly rest: readonly IdRange[];
  /** The records of the scanned ranges that the search index found; all if absent. */
  readonly among?: readonly string[];
}

/** What a batch yields, for example the number of its matches. */
export interface Batch<Found> {
  readonly scanned: readonly IdRange[];
  readonly rest: readonly IdRange[];
  /** The request for its records alone. */
  readonly request: ListRequest;
  readonly found: Found;
}

/** Reads the matches of these ranges. */
export type ReadBatch<Found> = (
  trx: Trx,
  request: ListRequest,
  ranges: readonly IdRange[],
) => Promise<Found>;

/** The scan for one page. */
export class HistoryScan {
  readonly trx: Trx;
  readonly #recover: Snapshot['recover'];
  readonly request: ListRequest;
  readonly #startedAt = performance.now();
  readonly pace: SearchPace;
  /** Null if the search index cannot help. */
  #sets: TokenSets | null;
  /** The first id that the search index covers; null before it was read. */
  #coveredFrom: string | null = null;
  /** Whether the index has too many matches for a selection by words. */
  #isFrequent = false;
  #hasScanned = false;
  /** What buckets count; null before it was read. */
  #counted: readonly Piece[] | null = null;
  /** Null before the first batch. */
  #recordsPerMs: number | null = null;

  constructor({ trx, recover }: Snapshot, request: ListRequest, pace: SearchPace) {
    this.trx = trx;
    this.#recover = recover;
    this.request = request;
    this.pace = pace;
    this.#sets = tokenSetsOf(request);
  }

  get elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }

  get isLate(): boolean {
    return this.elapsedMs >= this.pace.pageMs;
  }

  /** The number of records that match the filters that buckets count. */
  async count(): Promise<number> {
    return matchingIn(await this.#pieces());
  }

  async #pieces(): Promise<readonly Piece[]> {
    const { range } = this.request;
    this.#counted ??= await countPieces(this.trx, { ...this.request, contents: null }, range);
    return this.#counted;
  }

  /** The ranges that hold records which match the filters that buckets count. */
  async candidates(): Promise<{ ranges: IdRange[]; candidates: number }> {
    const countable = { ...this.request, contents: null };
    const pieces = await this.#pieces();
    const candidates = matchingIn(pieces);
    const all = windowOf(pieces, 0, candidates);
    const { pieces: finer } = await breakDown(
      this.trx,
      countable,
      all,
      candidates,
      this.#longPieces,
    );
    return { ranges: rangesOf(finer), candidates };
  }

  /** The number of records that a statement reads for a piece: the index passes over others at about a tenth of the cost. */
  readonly #readFor = ({ matching, all }: Piece): number =>
    isPickedByIndex(this.request) ? matching + (all - matching) / 10 : all;

  readonly #longPieces = (window: Window, level: BucketLevel): Piece[] =>
    longPieces(window, level, this.#readFor);

  /**
   * Scans everything batch by batch, until `use` wants no more or the time of the page is over. The first batch is always
   * scanned.
   * @param use takes what a batch yields; returns the maximum number of further candidates
   * @returns the ranges that were not scanned
   */
  async all<Found>(
    read: ReadBatch<Found>,
    use: (found: Found) => number,
    candidatesMax = Number.POSITIVE_INFINITY,
  ): Promise<readonly IdRange[]> {
    if (this.request.contents !== null || isIndexed(this.request)) {
      return this.each((await this.candidates()).ranges, read, use, candidatesMax);
    }
    let max = candidatesMax;
    let rest = await this.#pieces();
    while (rest.length > 0) {
      const window = windowOf(rest, 0, countedAtOnce);
      rest = rest.slice(window.pieces.length);
      const all = Number.POSITIVE_INFINITY;
      const finer = await breakDown(this.trx, this.request, window, all, this.#longPieces);
      const batches = batchesOf(finer.pieces, this.#readFor);
      for (const [index, batch] of batches.entries()) {
        const left = max > 0 ? await this.#scanCounted(batch, read, use, max) : null;
        if (left === null) return rangesOf([...batches.slice(index).flat(), ...rest]);
        if (left.rest.length > 0) return left.rest;
        max = left.max;
      }
    }
    return [];
  }

  /** Scans a batch whose matches are counted: no statement must look for its end. Null if the time is over. */
  async #scanCounted<Found>(
    batch: readonly Piece[],
    read: ReadBatch<Found>,
    use: (found: Found) => number,
    max: number,
  ): Promise<{ readonly max: number; readonly rest: readonly IdRange[] } | null> {
    const ranges = rangesOf(batch);
    if (matchingIn(batch) > max) {
      return { max: 0, rest: await this.each(ranges, read, use, max) };
    }
    if (this.#hasScanned && this.isLate) return null;
    this.request.signal?.throwIfAborted();
    try {
      const found = await read(this.trx, this.request, ranges);
      this.#hasScanned = true;
      return { max: use(found), rest: [] };
    } catch (error) {
      if (!isStatementTimeout(error)) throw error;
      await this.#recover();
      return null;
    }
  }

  /** As `all`, for these ranges, whose matches are not counted. */
  async each<Found>(
    ranges: readonly IdRange[],
    read: ReadBatch<Found>,
    use: (found: Found) => number,
    candidatesMax = Number.POSITIVE_INFINITY,
  ): Promise<readonly IdRange[]> {
    let rest = ranges;
    let max = candidatesMax;
    while (rest.length > 0 && max > 0 && !(this.#hasScanned && this.isLate)) {
      const batch = await this.scan(rest, read, batchMs, Math.min(max, batchMax));
      if (batch === null) break;
      max = use(batch.found);
      ({ rest } = batch);
    }
    return rest;
  }

  /** Whether a batch is shorter than this, at the current rate. */
  fits(ms: number): boolean {
    return this.#rate * ms >= batchMin;
  }

  get #rate(): number {
    return this.#recordsPerMs ?? this.pace.batchSize / batchMs;
  }

  /**
   * Scans the next batch. Null if the database ended even the smallest one for its time, or the time of the page is over.
   * @param leftMs how long it should take at most
   * @param candidatesMax the maximum number of candidates; there are no more matches
   */
  async scan<Found>(
    rest: readonly IdRange[],
    read: ReadBatch<Found>,
    leftMs = batchMs,
    candidatesMax = batchMax,
  ): Promise<Batch<Found> | null> {
    for (;;) {
      this.request.signal?.throwIfAborted();
      const startedAt = performance.now();
      const records = Math.round(this.#rate * Math.min(leftMs, batchMs));
      const fitting =
        this.#recordsPerMs === null ? this.pace.batchSize : between(batchMin, records, batchMax);
      const size = Math.min(fitting, candidatesMax);
      try {
        const batch = await this.#scanOnce(rest, size, read);
        const speed = size / Math.max(1, performance.now() - startedAt);
        this.#recordsPerMs = between(this.#rate / 4, speed, this.#rate * 4);
        this.#hasScanned = true;
        return batch;
      } catch (error) {
        if (!isStatementTimeout(error)) throw error;
        await this.#recover();
        if (size <= batchMin || (this.#hasScanned && this.isLate)) return null;
        this.#recordsPerMs = size / batchMs / 8;
      }
    }
  }

  async #scanOnce<Found>(
    remaining: readonly IdRange[],
    size: number,
    read: ReadBatch<Found>,
  ): Promise<Batch<Found>> {
    const countable = { ...this.request, contents: null };
    const { scanned, rest, among }: Scanned =
      (await this.#scanIndex(remaining, size)) ??
      (await nextRecords(this.trx, countable, remaining, size));
    const request = among ? { ...this.request, among } : this.request;
    return { scanned, rest, request, found: await read(this.trx, request, scanned) };
  }

  /**
   * The next records that the index finds, from the newest of these ranges to the oldest. Between them no record matches the
   * filters that buckets count. Null where the index covers nothing.
   */
  async #scanIndex(rest: readonly IdRange[], count: number): Promise<Scanned | null> {
    if (this.#sets === null) return null;
    this.#coveredFrom ??= await readCoverage(this.trx);
    const from = this.#coveredFrom;
    const covered = rest.flatMap((one) => downTo(from, one));
    if (covered.length === 0) return null;
    const range = enclosingRange(covered);
    const { ids, fromId } = await this.#find(this.#sets, { range, count });
    return {
      among: ids,
      scanned: downTo(fromId, range),
      rest: [...before(fromId, range), ...rest.flatMap((one) => before(from, one))],
    };
  }

  /** If the index takes too long, the rest of the page is searched without it. */
  async #find(
    sets: TokenSets,
    page: { readonly range: IdRange; readonly count: number },
  ): Promise<Candidates> {
    const isFrequent = this.#isFrequent;
    try {
      const found = await findCandidates(this.trx, this.request, sets, { ...page, isFrequent });
      this.#isFrequent = found.isFrequent;
      return found;
    } catch (error) {
      this.#sets = null;
      throw error;
    }
  }
}

const matchingIn = (pieces: readonly Piece[]) =>
  pieces.reduce((sum, { matching }) => sum + matching, 0);

/** Adjacent pieces that one statement reads. */
function batchesOf(pieces: readonly Piece[], readFor: (piece: Piece) => number): Piece[][] {
  const batches: Piece[][] = [];
  let records = Number.POSITIVE_INFINITY;
  for (const piece of pieces) {
    records += readFor(piece);
    if (records > readInOneGo) {
      batches.push([]);
      records = readFor(piece);
    }
    batches.at(-1)?.push(piece);
  }
  return batches;
}

const between = (least: number, value: number, most: number) =>
  Math.min(most, Math.max(least, value));
