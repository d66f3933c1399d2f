import type { Shares } from '../core/shares.ts';
import type { Db } from './database.ts';
import type { Standby } from './standby.ts';

export interface HistoryReadOptions {
  /** Whether it looks at records one by one. */
  readonly isSearch?: boolean;
  /** Ends the wait for a slot, for example because the client has disconnected. */
  readonly signal?: AbortSignal;
  /** Whether only the primary has what is read. */
  readonly fresh?: boolean;
  /** Whose writes must be visible; null reads from the primary. */
  readonly writer?: string | null;
  /** Receives the time whose state is read, if a standby is configured. */
  readonly onRead?: (asOf: Date) => void;
}

export interface HistoryReadDeps {
  readonly db: Db;
  /** As many slots as connections. A search takes one of both. */
  readonly shares: { readonly historyReads: Shares; readonly searches: Shares };
  readonly standby?: { readonly db: Db; readonly reads: Standby } | null;
}

/**
 * Lists, searches and statistics. They run on their own connections, so that a slow one never delays admission, status,
 * sessions or readiness.
 */
export class HistoryReads {
  readonly #deps: HistoryReadDeps;

  constructor(deps: HistoryReadDeps) {
    this.#deps = deps;
  }

  /**
   * Runs `work` once the reader has a slot, on the standby if it may serve the caller, else on the primary. Only what is safe
   * to repeat: if the standby fails, it runs again on the primary.
   * @throws {CallFailure} UNAVAILABLE if no slot becomes free in time
   */
  async read<T>(
    { workspaceId }: { readonly workspaceId: string },
    work: (db: Db) => Promise<T>,
    options: HistoryReadOptions = {},
  ): Promise<T> {
    const { searches, historyReads } = this.#deps.shares;
    const { signal, isSearch = false } = options;
    const releaseSearch = isSearch ? await searches.wait(workspaceId, signal) : null;
    try {
      const release = await historyReads.wait(workspaceId, signal);
      try {
        return await this.#run(work, options);
      } finally {
        release();
      }
    } finally {
      releaseSearch?.();
    }
  }

  async #run<T>(work: (db: Db) => Promise<T>, options: HistoryReadOptions): Promise<T> {
    const { db, standby } = this.#deps;
    if (!standby) return work(db);
    const { reads } = standby;
    const { fresh = false, writer = null, onRead } = options;
    if (!fresh && writer !== null && (await reads.mayServe(writer))) {
      const found = await reads.read((check) =>
        standby.db.connection(async (one) => {
          await check(one);
          return work(one);
        }),
      );
      if (found) {
        onRead?.(found.asOf);
        return found.value;
      }
    }
    const asOf = reads.primaryTime();
    const value = await work(db);
    if (asOf) onRead?.(asOf);
    return value;
  }
}
