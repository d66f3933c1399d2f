import { isStatementError, isUnstorable } from '../store/pipeline.ts';

/** Transactions that failed: which of them are tried again, and how one item of many is kept from failing the others. */

const attemptsMax = 3;

/** Why items cannot be carried out together, found out before anything was written: each may be, alone. */
export class ItemFault extends Error {}

/** Carries out a transaction, again where it fell to a deadlock or a serialization failure: these pass. */
export async function tryAgain<T>(transaction: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction();
    } catch (error) {
      const passing = isStatementError(error) && /^40/.test(error.code ?? '');
      if (!passing || attempt === attemptsMax) throw error;
    }
  }
}

/** The same for many items at once; where they fail together for what one of them is, each goes alone. */
export async function tryTogether<Item, Result>(
  items: Item[],
  transaction: (items: Item[]) => Promise<Result[]>,
): Promise<(Result | Error)[]> {
  try {
    return await tryAgain(() => transaction(items));
  } catch (error) {
    // Of a connection that was lost nobody knows whether it had committed.
    const known = isStatementError(error) || isUnstorable(error) || error instanceof ItemFault;
    if (items.length === 1 || !known) throw error;
    const results: (Result | Error)[] = [];
    for (const item of items) {
      results.push(...(await tryTogether([item], transaction).catch((one: Error) => [one])));
    }
    return results;
  }
}
