import {
  isServerWideError,
  isStatementError,
  isTransactionRollback,
  isUnstorable,
} from '../../store/connection/database-error.ts';
import type { Outcome } from './batcher.ts';

/** Transactions that failed: which of them are tried again, and how one item of many is kept from failing the others. */

const attemptsMax = 3;

/** Why items cannot be carried out together, found out before anything was written: each may be, alone. */
export class ItemFault extends Error {}

/** Carries out a transaction, again where it fell to a deadlock or a serialization failure: these pass. */
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
 * Carries out a transaction; where the database does not take what it holds, once more with the error, upon which it is to leave out
 * what follows: the same would follow at each try.
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
 * Of a connection that was lost nobody knows whether it had committed. What is of no item would be the same for each, and they
 * would fail one after the other.
 */
function mayBeOfOne(error: unknown): boolean {
  if (isStatementError(error)) return !isServerWideError(error);
  return isUnstorable(error) || error instanceof ItemFault;
}

/** Looks at items before anything is written: whatever it fails with may be of one of them, a lost connection too. */
export async function asItemFaults<T>(looking: Promise<T>): Promise<T> {
  try {
    return await looking;
  } catch (error) {
    if (mayBeOfOne(error)) throw error;
    throw new ItemFault('these could not be looked at together', { cause: error });
  }
}

/**
 * The same as `retryTransaction` for many items at once; where they fail together for what one of them is, each goes alone, unless it is
 * said how else they go apart.
 */
export async function transactBatch<Item, Result>(
  items: Item[],
  transaction: (items: Item[]) => Promise<Result[]>,
  apart?: (items: Item[]) => Promise<Outcome<Result>[]>,
): Promise<Outcome<Result>[]> {
  try {
    return await retryTransaction(() => transaction(items));
  } catch (error) {
    if (items.length === 1 || !mayBeOfOne(error)) throw error;
    return apart ? apart(items) : oneByOne(items);
  }

  async function oneByOne(all: Item[]): Promise<Outcome<Result>[]> {
    const results: Outcome<Result>[] = [];
    for (const item of all) {
      results.push(...(await transactBatch([item], transaction).catch((one: Error) => [one])));
    }
    return results;
  }
}
