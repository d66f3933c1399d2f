import { batcher } from '../../src/engine/transaction/batcher.ts';

/** Our micro-batches for a peer: items that arrive while batches are in flight form the next batch. */
export function withMicroBatches<Item, Result>(
  run: (items: Item[]) => Promise<Result[]>,
): (item: Item) => Promise<Result> {
  const { add } = batcher<Item, Result>({
    ...{ sizeMax: 500, inFlightMax: 2, weight: () => 1 },
    run,
  });
  return add;
}

/** Whether this process uses micro-batches. */
export const batched = process.argv.includes('--micro-batches');
