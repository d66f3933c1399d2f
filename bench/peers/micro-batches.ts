import { batcher } from '../../src/flow/admission/batcher.ts';

/** Our micro-batching, batched to a peer: what comes while the last batches are under way travels together. */
export function withMicroBatches<Item, Result>(
  run: (items: Item[]) => Promise<Result[]>,
): (item: Item) => Promise<Result> {
  const { add } = batcher<Item, Result>({
    ...{ sizeMax: 500, inFlightMax: 2, weight: () => 1 },
    run,
  });
  return add;
}

/** Whether this process is to use it: the second form of each peer. */
export const batched = process.argv.includes('--micro-batches');
