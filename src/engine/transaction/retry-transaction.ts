import {
  isServerWideError,
  isStatementError,
  isTransactionRollback,
  isUnstorable,
} from '../../db/database-error.ts';
import type { Outcome } from './batcher.ts';

/**
 * Retries of transactions, and isolation of items that fail together: one bad item of a batch must not fail the others.
 */

const attemptsMax = 3;

/** Items that cannot share a transaction, detected before any write. Each may succeed in a transaction of its own. */
export class ItemFault extends Error {}

/** Retries after a deadlock or a serialization failure. */
export async function retryTransaction<T>(transaction: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction();
    } catch (error) {
      if (!isTransactionRollback(error) || attempt === attemptsMax) throw error;
    }
  }
}

/**
 * Runs a transaction. If PostgreSQL cannot store its values, runs it once more with that error: the transaction must
 * then leave out the follow-up, which would fail the same way every time.
 */
export async function endAfterRetries<T>(
  transaction: (unwritable: Error | null) => Promise<T>,
): Promise<T> {
  try {
    return await transaction(null);
  } catch (error) {
    if (!isUnstorable(error)) throw error;
    return transaction(error);
  }
}

/**
 * Whether a single item may have caused the error. A lost connection may have committed, and a server-wide error would
 * repeat for every item.
 */
function mayBeItemFault(error: unknown): boolean {
  if (isStatementError(error)) return !isServerWideError(error);
  return isUnstorable(error) || error instanceof ItemFault;
}

/** For reads before the first write: any failure, even a lost connection, may come from one item and is safe to retry. */
export async function asItemFaults<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (mayBeItemFault(error)) throw error;
    throw new ItemFault('These items could not be read together.', { cause: error });
  }
}

/**
 * `retryTransaction` for a batch. If the batch fails because of one item, each item gets its own transaction, or
 * `isolate` decides how they are split.
 */
export async function transactBatch<Item, Result>(
  items: Item[],
  transaction: (items: Item[]) => Promise<Result[]>,
  isolate?: (items: Item[]) => Promise<Outcome<Result>[]>,
): Promise<Outcome<Result>[]> {
  try {
    return await retryTransaction(() => transaction(items));
  } catch (error) {
    if (items.length === 1 || !mayBeItemFault(error)) throw error;
    return isolate ? isolate(items) : oneByOne(items);
  }

  async function oneByOne(all: Item[]): Promise<Outcome<Result>[]> {
    const results: Outcome<Result>[] = [];
    for (const item of all) {
      results.push(...(await transactBatch([item], transaction).catch((one: Error) => [one])));
    }
    return results;
  }
}
