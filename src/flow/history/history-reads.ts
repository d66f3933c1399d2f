import { CallFailure } from '../../core/failure.ts';
import { type Reader, type ReadSlotLimits, ReadSlots } from '../../core/history/read-slots.ts';
import type { Db } from '../../store/connection/database.ts';

/**
 * Lists, searches and statistics. They run on their own connections, so that a slow one never delays admission, status,
 * sessions or readiness.
 */
export interface HistoryReads {
  /**
   * Runs `work` once the reader has a slot.
   * @param signal ends the wait, for example because the client has disconnected
   * @throws {CallFailure} UNAVAILABLE if no slot becomes free in time
   */
  read<T>(reader: Reader, work: (db: Db) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export interface HistoryReadDeps {
  readonly db: Db;
  /** `max` is the number of connections. */
  readonly limits: ReadSlotLimits;
}

export function createHistoryReads({ db, limits }: HistoryReadDeps): HistoryReads {
  const slots = new ReadSlots(limits);
  return {
    async read(reader, work, signal) {
      if (!(await slots.acquire(reader, signal))) {
        signal?.throwIfAborted();
        throw tooMany(limits.waitMs);
      }
      try {
        return await work(db);
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
