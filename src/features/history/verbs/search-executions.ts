import {
  before,
  downTo,
  type IdRange,
  longPieces,
  rangesOf,
  windowOf,
} from '../../../core/history/history-range.ts';
import type { TokenSets } from '../../../core/history/search-tokens.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { isStatementTimeout } from '../../../db/database-error.ts';
import type { ListedExecution } from '../../../engine/read/executions.ts';
import { countRecords } from '../statements/history-counts.ts';
import { enclosingRange } from '../statements/history-filter.ts';
import { nextRecords, openSnapshot, readRecords } from '../statements/records.ts';
import {
  type Candidates,
  findCandidates,
  readCoverage,
  tokenSetsOf,
} from '../statements/search-index.ts';
import { breakDown, countPieces } from './count-history.ts';
import type { HistoryPage, ListRequest } from './history-page.ts';

/**
 * Lists a page by filters that no bucket counts: text, variables, latency and cost. Only a look at each record tells
 * whether it matches.
 *
 * - Records are scanned newest first in batches, from one snapshot. A batch is as large as the time for one allows, so
 *   that no search is rejected for its size and none holds a connection much longer than a page may take.
 * - As far as the search index covers the records, a batch takes those that it finds by words and values, else all.
 * - A page that is not full in time is returned short, with the last record that was scanned. The next page
 *   continues there, with what is left of the offset.
 * - Once the page is full, counting goes on for a while. If it does not reach the end, the total is a lower bound.
 */
export async function searchExecutions(
  db: Db,
  request: ListRequest,
  pace: SearchPace = defaultPace,
): Promise<HistoryPage> {
  const snapshot = await openSnapshot(db);
  try {
    return await new Search(snapshot, request, pace).page();
  } finally {
    await snapshot.close();
  }
}

export interface SearchPace {
  /** How long a page may take to fill, in milliseconds. It scans at least one batch. */
  readonly pageMs: number;
  /** How long a history of more than `countedMax` candidates is counted for one page, in milliseconds. */
  readonly countMs: number;
  readonly countedMax: number;
  /** The number of records in the first batch. */
  readonly batchSize: number;
}

const defaultPace: SearchPace = {
  ...{ pageMs: 5_000, countMs: 150 },
  ...{ countedMax: 20_000, batchSize: 1_000 },
};

const batchMs = 250;
const batchMin = 50;
const batchMax = 20_000;

type Snapshot = Awaited<ReturnType<typeof openSnapshot>>;

interface Scanned {
  readonly scanned: readonly IdRange[];
  readonly rest: readonly IdRange[];
  /** The records of the scanned ranges that the search index found; all if absent. */
  readonly among?: readonly string[];
}

interface Batch extends Scanned {
  /** The number of matches. */
  readonly matching: number;
}

class Search {
  readonly #trx: Trx;
  readonly #recover: Snapshot['recover'];
  readonly #request: ListRequest;
  readonly #startedAt = performance.now();
  readonly #pace: SearchPace;
  /** Null if the search index cannot help. */
  #sets: TokenSets | null;
  /** The first id that the search index covers; null before it was read. */
  #coveredFrom: string | null = null;
  /** Whether the index has too many matches for a selection by words. */
  #isFrequent = false;
  #hasScanned = false;
  /** Null before the first batch. */
  #recordsPerMs: number | null = null;

  constructor({ trx, recover }: Snapshot, request: ListRequest, pace: SearchPace) {
    this.#trx = trx;
    this.#recover = recover;
    this.#request = request;
    this.#pace = pace;
    this.#sets = tokenSetsOf(request);
  }

  async page(): Promise<HistoryPage> {
    const { after, offset, limit, omitsBodies } = this.#request;
    const { ranges, candidates } = await this.#candidates();
    const rows: ListedExecution[] = [];
    let rest: readonly IdRange[] =
      after === null ? ranges : ranges.flatMap((one) => before(after, one));
    let skip = offset;
    let total = 0;
    while (rest.length > 0 && rows.length < limit) {
      const batch = await this.#scan(rest, batchMs);
      if (batch === null) break;
      if (batch.matching > skip) {
        const page = { ranges: batch.scanned, skip, take: limit - rows.length, omitsBodies };
        rows.push(...(await readRecords(this.#trx, this.#among(batch), page)));
      }
      skip = Math.max(0, skip - batch.matching);
      total += batch.matching;
      ({ rest } = batch);
      if (this.#elapsedMs >= this.#pace.pageMs) break;
    }
    const [next] = rows.length < limit ? rest : [];
    const newer = after === null ? [] : ranges.flatMap((one) => downTo(after, one));
    const counted = next ? null : await this.#count([newer, rest], candidates);
    return {
      rows,
      total: total + (counted?.matching ?? 0),
      totalIsLowerBound: counted?.isComplete !== true,
      continuesAfter: next ? { id: next.toId, skip } : null,
    };
  }

  get #elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }

  /** The ranges that hold records which match the filters that buckets count. */
  async #candidates(): Promise<{ ranges: IdRange[]; candidates: number }> {
    const countable = { ...this.#request, contents: null };
    const pieces = await countPieces(this.#trx, countable, this.#request.range);
    const candidates = pieces.reduce((sum, { matching }) => sum + matching, 0);
    const all = windowOf(pieces, 0, candidates);
    const { pieces: finer } = await breakDown(this.#trx, countable, all, candidates, longPieces);
    return { ranges: rangesOf(finer), candidates };
  }

  /** Counts what is left on both sides of the page. Between them lies what has been scanned. */
  async #count(sides: readonly (readonly IdRange[])[], candidates: number) {
    const { pageMs, countMs, countedMax } = this.#pace;
    const untilMs = candidates <= countedMax ? pageMs : countMs;
    let matching = 0;
    for (let rest of sides) {
      while (rest.length > 0) {
        const leftMs = untilMs - this.#elapsedMs;
        const batch = this.#fits(leftMs) ? await this.#scan(rest, leftMs) : null;
        if (batch === null) return { matching, isComplete: false };
        matching += batch.matching;
        ({ rest } = batch);
      }
    }
    return { matching, isComplete: true };
  }

  /** Whether a batch is shorter than this, at the current rate. */
  #fits(ms: number): boolean {
    return this.#rate * ms >= batchMin;
  }

  get #rate(): number {
    return this.#recordsPerMs ?? this.#pace.batchSize / batchMs;
  }

  /**
   * Scans the next batch. Null if the database ended even the smallest one for its time, or the time of the page is over.
   * @param leftMs how long it should take at most
   */
  async #scan(rest: readonly IdRange[], leftMs: number): Promise<Batch | null> {
    for (;;) {
      this.#request.signal?.throwIfAborted();
      const startedAt = performance.now();
      const records = Math.round(this.#rate * Math.min(leftMs, batchMs));
      const size =
        this.#recordsPerMs === null ? this.#pace.batchSize : between(batchMin, records, batchMax);
      try {
        const batch = await this.#scanOnce(rest, size);
        const speed = size / Math.max(1, performance.now() - startedAt);
        this.#recordsPerMs = between(this.#rate / 4, speed, this.#rate * 4);
        this.#hasScanned = true;
        return batch;
      } catch (error) {
        if (!isStatementTimeout(error)) throw error;
        await this.#recover();
        const isLate = this.#hasScanned && this.#elapsedMs >= this.#pace.pageMs;
        if (size === batchMin || isLate) return null;
        this.#recordsPerMs = size / batchMs / 8;
      }
    }
  }

  async #scanOnce(rest: readonly IdRange[], size: number): Promise<Batch> {
    const countable = { ...this.#request, contents: null };
    const batch =
      (await this.#scanIndex(rest, size)) ?? (await nextRecords(this.#trx, countable, rest, size));
    return {
      ...batch,
      matching: await countRecords(this.#trx, this.#among(batch), batch.scanned),
    };
  }

  #among({ among }: Scanned): ListRequest {
    return among ? { ...this.#request, among } : this.#request;
  }

  /**
   * The next records that the index finds, from the newest of these ranges to the oldest. Between them no record matches the
   * filters that buckets count. Null where the index covers nothing.
   */
  async #scanIndex(rest: readonly IdRange[], count: number): Promise<Scanned | null> {
    if (this.#sets === null) return null;
    this.#coveredFrom ??= await readCoverage(this.#trx);
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
      const found = await findCandidates(this.#trx, this.#request, sets, { ...page, isFrequent });
      this.#isFrequent = found.isFrequent;
      return found;
    } catch (error) {
      this.#sets = null;
      throw error;
    }
  }
}

const between = (least: number, value: number, most: number) =>
  Math.min(most, Math.max(least, value));
