import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import {
  asItemFaults,
  ItemFault,
  transactBatch,
} from '../../../src/engine/transaction/retry-transaction.ts';

const failure = (code: string) => Object.assign(new pg.DatabaseError('no', 1, 'error'), { code });

/** Fails if one of the items is bad, and records the batches. */
function trying(error: (tries: number) => Error | null) {
  const tried: string[][] = [];
  const work = async (items: string[]) => {
    tried.push(items);
    const failed = items.includes('bad') ? error(tried.length) : null;
    if (failed) throw failed;
    return items.map((item) => item.toUpperCase());
  };
  return { tried, work };
}

test('a rollback is retried as a batch, another failure isolates the items', async () => {
  const passing = trying((tries) => (tries < 3 ? failure('40P01') : null));
  assert.deepEqual(await transactBatch(['a', 'bad'], passing.work), ['A', 'BAD']);
  assert.deepEqual(passing.tried, Array(3).fill(['a', 'bad']));
  for (const error of [failure('23505'), new RangeError('too long'), new ItemFault('broken')]) {
    const lasting = trying(() => error);
    assert.deepEqual(await transactBatch(['a', 'bad', 'b'], lasting.work), ['A', error, 'B']);
    assert.deepEqual(lasting.tried, [['a', 'bad', 'b'], ['a'], ['bad'], ['b']]);
  }
});

test('an unknown outcome is not retried', async () => {
  for (const error of [new Error('the connection is gone'), failure('57P01'), failure('08006')]) {
    const lost = trying(() => error);
    await assert.rejects(transactBatch(['a', 'bad'], lost.work), error);
    assert.equal(lost.tried.length, 1);
  }
});

test('a connection lost before the first write isolates the items, and a rollback is retried', async () => {
  const lost = new Error('the connection is gone');
  const looking = (error: Error) => asItemFaults(Promise.reject(error));
  for (const error of [lost, failure('57014'), failure('53200')]) {
    await assert.rejects(looking(error), (fault: Error) => {
      return fault instanceof ItemFault && fault.cause === error;
    });
  }
  await assert.rejects(looking(failure('40P01')), { code: '40P01' });
});

test('a given isolation decides how items are split', async () => {
  const lasting = trying(() => new ItemFault('too much'));
  const apart = async (items: string[]) => items.map((item) => Promise.resolve(`${item} later`));
  const results = await transactBatch(['a', 'bad'], lasting.work, apart);
  assert.deepEqual(await Promise.all(results), ['a later', 'bad later']);
  assert.deepEqual(lasting.tried, [['a', 'bad']]);
});
