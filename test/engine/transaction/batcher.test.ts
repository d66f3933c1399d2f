import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batcher, lanes } from '../../../src/engine/transaction/batcher.ts';

test('a batch is limited by size and weight, and a heavy item forms its own batch', async () => {
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
  const heavy = 1_100_000;
  const results = await Promise.all([1, 2, 3, 4, 5, heavy, 6, 1_000_000, 900_000].map(add));
  assert.deepEqual(results, [1, 2, 3, 4, 5, heavy, 6, 1_000_000, 900_000]);
  assert.deepEqual(batches, [[1, 2, 3, 4], [5], [heavy], [6, 1_000_000], [900_000]]);
  await idle();
});

test('short items do not wait for long ones, and long ones run one batch after the other', async () => {
  const written = Promise.withResolvers<void>();
  const started: number[] = [];
  const { add, idle } = lanes<number, number>({
    sizeMax: 4,
    inFlightMax: 2,
    weight: (item) => item,
    run: async (items) => {
      started.push(...items);
      if (items.some((item) => item > 1_000)) await written.promise;
      return items;
    },
  });
  const long = [1_100_000, 1_200_000].map(add);
  assert.deepEqual(await Promise.all([1, 2].map(add)), [1, 2]);
  assert.deepEqual(await Promise.all([3].map(add)), [3]);
  assert.ok(!started.includes(1_200_000));
  written.resolve();
  assert.deepEqual(await Promise.all(long), [1_100_000, 1_200_000]);
  await idle();
});

test('an error rejects its item, a rejection rejects all', async () => {
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

test('a result may be a promise, and the next batch does not wait for it', async () => {
  const later = Promise.withResolvers<string>();
  const { add, idle } = batcher<string, string>({
    sizeMax: 1,
    inFlightMax: 1,
    weight: () => 1,
    run: async (items) => items.map((item) => (item === 'late' ? later.promise : item)),
  });
  const late = add('late');
  assert.equal(await add('next'), 'next');
  await idle();
  later.resolve('at last');
  assert.equal(await late, 'at last');
});

test('a second batch runs in parallel, at once if many items wait, and never a third', async () => {
  const batches: number[] = [];
  const { promise, resolve: end } = Promise.withResolvers<void>();
  const { add, idle } = batcher<number, number>({
    sizeMax: 1_000,
    inFlightMax: 2,
    weight: () => 1,
    run: async (items) => {
      batches.push(items.length);
      await promise;
      return items;
    },
  });
  const results = [add(0)];
  await new Promise(setImmediate);
  // A few items wait for the parallel timer, then form a batch.
  results.push(...[1, 2, 3].map(add));
  while (batches.length < 2) await new Promise(setImmediate);
  results.push(...Array.from({ length: 500 }, (_, at) => add(4 + at)));
  await new Promise((resolve) => setTimeout(resolve, 120));
  assert.deepEqual(batches, [1, 3]);
  end();
  assert.equal((await Promise.all(results)).length, 504);
  assert.deepEqual(batches, [1, 3, 500]);
  await idle();
});

test('idle resolves after batches in flight and queued items', async () => {
  const done: number[] = [];
  const { add, idle } = batcher<number, number>({
    sizeMax: 1,
    inFlightMax: 1,
    weight: () => 1,
    run: async ([item = 0]) => {
      await new Promise(setImmediate);
      done.push(item);
      return [item];
    },
  });
  const results = [add(1), add(2)];
  await new Promise(setImmediate);
  await idle();
  assert.deepEqual(done, [1, 2]);
  await Promise.all(results);
});

test('the next batch is sent before the callers of the previous one get results', async () => {
  const events: string[] = [];
  const first = Promise.withResolvers<void>();
  const { add } = batcher<number, number>({
    sizeMax: 10,
    inFlightMax: 1,
    weight: () => 1,
    run: async (items) => {
      // Statements are sent at the end of the current task.
      queueMicrotask(() => events.push(`sent ${items}`));
      if (items.includes(1)) await first.promise;
      return items;
    },
  });
  const results = [add(1).then((item) => events.push(`answered ${item}`))];
  await new Promise(setImmediate);
  results.push(add(2).then((item) => events.push(`answered ${item}`)));
  first.resolve();
  await Promise.all(results);
  assert.deepEqual(events, ['sent 1', 'sent 2', 'answered 1', 'answered 2']);
});

test('many items do not wait for the batch in flight', async () => {
  const batches: number[] = [];
  const first = Promise.withResolvers<void>();
  const { add } = batcher<number, number>({
    sizeMax: 1_000,
    inFlightMax: 2,
    weight: () => 1,
    run: async (items) => {
      batches.push(items.length);
      if (batches.length === 1) await first.promise;
      return items;
    },
  });
  const stuck = add(0);
  await new Promise(setImmediate);
  await Promise.all(Array.from({ length: 200 }, (_, at) => add(1 + at)));
  assert.deepEqual(batches, [1, 200]);
  first.resolve();
  await stuck;
});
