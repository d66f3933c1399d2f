import type { Db } from '../../../db/database.ts';
import { paced } from '../../../engine/transaction/paced-transactions.ts';
import {
  emptyIndex,
  extendCoverage,
  firstPosition,
  forgetMonths,
  indexChanges,
} from '../statements/search-index.ts';

const changesAtOnce = 1_000;
const groupsAtOnce = 1_000;
const restMsMax = 1_000;

export interface IndexRoundDeps {
  readonly db: Db;
  /** Ends the round after the current transaction. */
  readonly signal: AbortSignal;
  /** Off: the index is emptied, and searches read the records. */
  readonly isOn: boolean;
  /** The pause after a transaction, as a multiple of its duration; 1 unless given: half of one connection at most. */
  readonly rest?: number;
}

/**
 * Brings the search index up to date: the latest changes first, then records that it does not cover because it was off. One
 * process at a time writes it; the others find it locked and return.
 */
export async function indexRound({ db, signal, isOn, rest = 1 }: IndexRoundDeps): Promise<void> {
  const runPaced = paced({ signal, rest, restMsMax });
  /** Until the transaction finds nothing more to do. */
  const repeat = async (transaction: () => Promise<boolean>) => {
    while (await runPaced(transaction));
  };
  if (!isOn) return repeat(() => emptyIndex(db, changesAtOnce));
  const takeChanges = () => {
    let position: string | null = firstPosition;
    return repeat(async () => {
      position = position && (await indexChanges(db, changesAtOnce, position));
      return position !== null;
    });
  };
  await repeat(async () => (await forgetMonths(db, groupsAtOnce)) > 0);
  await takeChanges();
  await repeat(async () => {
    const extended = await extendCoverage(db, changesAtOnce);
    if (extended > 0) await takeChanges();
    return extended > 0;
  });
}
