import { CallFailure } from '../../core/failure.ts';
import { type Reader, type ReadSlotLimits, ReadSlots } from '../../core/history/read-slots.ts';
import type { Db } from '../../store/connection/database.ts';
import type { Standby } from './standby.ts';

/**
 * Lists, searches and statistics. They run on their own connections, so that a slow one never delays admission, status,
 * sessions or readiness.
 */
export interface HistoryReads {
  /**
   * Runs `work` once the reader has a slot, on the standby if it may serve the caller, else on the primary. Only what is safe
   * to repeat: if the standby fails, it runs again on the primary.
   * @throws {CallFailure} UNAVAILABLE if no slot becomes free in time
   */
  read<T>(reader: Reader, work: (db: Db) => Promise<T>, options?: HistoryReadOptions): Promise<T>;
}

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
  /** `max` is the number of connections. */
  readonly limits: ReadSlotLimits;
  readonly standby?: { readonly db: Db; readonly reads: Standby } | null;
}

export function createHistoryReads({ db, limits, standby = null }: HistoryReadDeps): HistoryReads {
  const slots = new ReadSlots(limits);

  async function run<T>(work: (db: Db) => Promise<T>, options: HistoryReadOptions): Promise<T> {
    if (!standby) return work(db);
    const { reads } = standby;
    const { fresh = false, writer = null, onRead } = options;
    if (!fresh && writer !== null && (await reads.mayServe(writer))) {
      const found = await reads.read((check) =>
        standby.db.connection().execute(async (one) => {
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

  return {
    async read({ id, workspaceId }, work, options = {}) {
      const { signal, isSearch = false } = options;
      const reader = { id, workspaceId, isSearch };
      if (!(await slots.acquire(reader, signal))) {
        signal?.throwIfAborted();
        throw tooMany(limits.waitMs);
      }
      try {
        return await run(work, options);
      } finally {
        slots.release(reader);
      }
    },
  };
}

function tooMany(waitMs: number): CallFailure {
  const message =
    'Too many lists, searches or statistics are running. Try again, and run fewer at once.';
  return new CallFailure('UNAVAILABLE', message, { retryAfter: Math.ceil(waitMs / 1_000) });
}
