import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repeatWhileFull, runAll } from '../../../src/engine/transaction/paced-transactions.ts';

test('a task that fails blocks no other, and the first failure is thrown', async () => {
  const ran: string[] = [];
  const task = (name: string, failure: Error | null) => async () => {
    ran.push(name);
    if (failure) throw failure;
  };
  const [first, second] = [new Error('first'), new Error('second')];
  const all = runAll([task('a', first), task('b', second), task('c', null)]);
  await assert.rejects(all, first);
  assert.deepEqual(ran, ['a', 'b', 'c']);
});

test('a batch is repeated while it is full', async () => {
  const sizes = [3, 3, 2, 3];
  await repeatWhileFull(3, async () => sizes.shift());
  assert.deepEqual(sizes, [3]);
});
