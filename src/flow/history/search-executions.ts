import {
  before,
  downTo,
  type IdRange,
  longPieces,
  rangesOf,
  windowOf,
} from '../../core/history/history-range.ts';
import type { Db, Trx } from '../../store/connection/database.ts';
import { isStatementTimeout } from '../../store/connection/database-error.ts';
import type { ExecutionListRow } from '../../store/execution/executions.ts';
import { countRecords } from '../../store/history/history-counts.ts';
import { findRecord, openSnapshot, readRecords } from '../../store/history/records.ts';
import { breakDown, countPieces } from './count-history.ts';
import type { HistoryPage, ListRequest } from './list-executions.ts';

/**
 * Lists a page by filters that no bucket counts: text, variables, latency and cost. Only a look at each record tells
 * whether it matches.
 *
 * - Records are scanned newest first in batches, from one snapshot. A batch is as large as the time for one allows, so
 *   that no search is rejected for its size and none holds a connection much longer than a page may take.
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
  ...{ pageMs: 5_000, countMs: 1_000 },
  ...{ countedMax: 20_000, batchSize: 1_000 },
};

const batchMs = 250;
const batchMin = 50;
const batchMax = 20_000;

type Snapshot = Awaited<ReturnType<typeof openSnapshot>>;

interface Batch {
  /** The number of matches. */
  readonly matching: number;
  readonly scanned: readonly IdRange[];
  /** The oldest record of the batch; null if nothing is left to scan. */
  readonly lastId: string | null;
}

class Search {
  readonly #trx: Trx;
  readonly #recover: Snapshot['recover'];
  readonly #request: ListRequest;
  readonly #startedAt = performance.now();
  readonly #pace: SearchPace;
  #batchSize: number;

  constructor({ trx, recover }: Snapshot, request: ListRequest, pace: SearchPace) {
    this.#trx = trx;
    this.#recover = recover;
    this.#request = request;
    this.#pace = pace;
    this.#batchSize = pace.batchSize;
  }

  async page(): Promise<HistoryPage> {
    const { after, offset, limit, omitsBodies } = this.#request;
    const { ranges, candidates } = await this.#candidates();
    const rows: ExecutionListRow[] = [];
    let rest = after === null ? ranges : ranges.flatMap((one) => before(after, one));
    let skip = offset;
    let total = 0;
    let lastId: string | null = null;
    while (rest.length > 0 && rows.length < limit) {
      const batch = await this.#scan(rest);
      if (batch === null) break;
      if (batch.matching > skip) {
        const page = { ranges: batch.scanned, skip, take: limit - rows.length, omitsBodies };
        rows.push(...(await readRecords(this.#trx, this.#request, page)));
      }
      skip = Math.max(0, skip - batch.matching);
      total += batch.matching;
      ({ lastId } = batch);
      rest = lastId === null ? [] : restAfter(rest, lastId);
      if (this.#elapsedMs >= this.#pace.pageMs) break;
    }
    const isShort = rows.length < limit && rest.length > 0;
    const newer = after === null ? [] : ranges.flatMap((one) => downTo(after, one));
    const counted = isShort ? null : await this.#count([...newer, ...rest], candidates);
    return {
      rows,
      total: total + (counted?.matching ?? 0),
      totalIsLowerBound: counted?.isComplete !== true,
      continuesAfter: isShort ? { id: lastId ?? after ?? topOf(rest), skip } : null,
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

  async #count(ranges: readonly IdRange[], candidates: number) {
    const { pageMs, countMs, countedMax } = this.#pace;
    const untilMs = candidates <= countedMax ? pageMs : countMs;
    let matching = 0;
    let rest = ranges;
    while (rest.length > 0 && this.#elapsedMs < untilMs) {
      const batch = await this.#scan(rest);
      if (batch === null) break;
      matching += batch.matching;
      rest = batch.lastId === null ? [] : restAfter(rest, batch.lastId);
    }
    return { matching, isComplete: rest.length === 0 };
  }

  /** Scans the next batch. Null if the database ended even the smallest one for its time. */
  async #scan(rest: readonly IdRange[]): Promise<Batch | null> {
    for (;;) {
      this.#request.signal?.throwIfAborted();
      const startedAt = performance.now();
      try {
        const batch = await this.#scanOnce(rest);
        const speed = batchMs / Math.max(1, performance.now() - startedAt);
        this.#resize(Math.min(4, Math.max(1 / 4, speed)));
        return batch;
      } catch (error) {
        if (!isStatementTimeout(error)) throw error;
        await this.#recover();
        if (this.#batchSize === batchMin) return null;
        this.#resize(1 / 8);
      }
    }
  }

  async #scanOnce(rest: readonly IdRange[]): Promise<Batch> {
    const countable = { ...this.#request, contents: null };
    const last = { ranges: rest, skip: this.#batchSize - 1 };
    const lastId = await findRecord(this.#trx, countable, last);
    const scanned = lastId === null ? rest : rest.flatMap((one) => downTo(lastId, one));
    const matching = await countRecords(this.#trx, this.#request, scanned);
    return { matching, scanned, lastId };
  }

  #resize(factor: number): void {
    const size = Math.round(this.#batchSize * factor);
    this.#batchSize = Math.min(batchMax, Math.max(batchMin, size));
  }
}

function restAfter(ranges: readonly IdRange[], lastId: string): IdRange[] {
  return ranges.flatMap((range) => before(lastId, range));
}

function topOf(ranges: readonly IdRange[]): string {
  return ranges[0]?.toId ?? '';
}
