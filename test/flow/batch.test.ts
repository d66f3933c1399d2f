import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batcher } from '../../src/flow/batch.ts';

test('a batch ends at its size or its weight, and a heavy item goes alone', async () => {
  const batches: number[][] = [];
  const { add, idle } = batcher<number, number>({
    sizeMax: 4,
    inFlightMax: 1,
    weight: (item) => item,
    run: async (items) => {
      batches.push(items);
      return items;
    },
  });
  const heavy = 9_000_000;
  const results = await Promise.all([1, 2, 3, 4, 5, heavy, 6, 8_000_000, 7_000_000].map(add));
  assert.deepEqual(results, [1, 2, 3, 4, 5, heavy, 6, 8_000_000, 7_000_000]);
  assert.deepEqual(batches, [[1, 2, 3, 4], [5], [heavy], [6, 8_000_000], [7_000_000]]);
  await idle();
});

test('an error is its item’s alone, a rejection everyone’s', async () => {
  const { add } = batcher<string, string>({
    sizeMax: 10,
    inFlightMax: 1,
    weight: () => 1,
    run: async (items) => {
      if (items.includes('all')) throw new Error('all');
      return items.map((item) => (item === 'bad' ? new Error('bad') : item));
    },
  });
  const settled = await Promise.allSettled(['a', 'bad', 'b'].map(add));
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  const lost = await Promise.allSettled(['a', 'all'].map(add));
  assert.deepEqual(
    lost.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
});
