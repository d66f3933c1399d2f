import { setTimeout as wait } from 'node:timers/promises';
import type { Db } from '../../store/connection/database.ts';
import {
  emptyIndex,
  extendCoverage,
  firstPlace,
  forgetMonths,
  indexChanges,
} from '../../store/history/search-index.ts';

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
export async function indexRound(deps: IndexRoundDeps): Promise<void> {
  const { db, isOn } = deps;
  if (!isOn) {
    await repeat(deps, () => emptyIndex(db, changesAtOnce));
    return;
  }
  await repeat(deps, async () => (await forgetMonths(db, groupsAtOnce)) > 0);
  await takeChanges(deps);
  await repeat(deps, async () => {
    const extended = await extendCoverage(db, changesAtOnce);
    if (extended > 0) await takeChanges(deps);
    return extended > 0;
  });
}

async function takeChanges(deps: IndexRoundDeps): Promise<void> {
  let place: string | null = firstPlace;
  await repeat(deps, async () => {
    place = place && (await indexChanges(deps.db, changesAtOnce, place));
    return place !== null;
  });
}

/** Repeats a transaction until it finds nothing more to do, with pauses. */
async function repeat(
  { signal, rest = 1 }: IndexRoundDeps,
  transaction: () => Promise<boolean>,
): Promise<void> {
  while (!signal.aborted) {
    const startedAt = performance.now();
    if (!(await transaction())) return;
    const restMs = Math.min(restMsMax, (performance.now() - startedAt) * rest);
    if (restMs > 0) await wait(restMs, undefined, { signal }).catch(() => {});
  }
}
