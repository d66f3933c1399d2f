import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWakeLoop } from '../../src/core/wake-loop.ts';

/** Work of which each round waits for its release. */
function heldWork() {
  const rounds: PromiseWithResolvers<void>[] = [];
  const errors: unknown[] = [];
  const work = createWakeLoop(
    () => {
      const round = Promise.withResolvers<void>();
      rounds.push(round);
      return round.promise;
    },
    (error) => errors.push(error),
  );
  return { rounds, errors, work };
}

test('wake-ups during the work repeat it once, and never beside it', async () => {
  const { rounds, work } = heldWork();
  for (let times = 0; times < 3; times++) work.wake();
  assert.equal(rounds.length, 1);
  rounds[0]?.resolve();
  await new Promise(setImmediate);
  assert.equal(rounds.length, 2);
  const settled = work.settled();
  rounds[1]?.resolve();
  await settled;
  assert.equal(rounds.length, 2);
});

test('an error is reported and ends no later work', async () => {
  const { rounds, errors, work } = heldWork();
  work.wake();
  rounds[0]?.reject(new Error('failed'));
  await work.settled();
  assert.equal(errors.length, 1);
  work.wake();
  assert.equal(rounds.length, 2);
  rounds[1]?.resolve();
  await work.settled();
});

test('a stop waits for the work, and none starts afterwards', async () => {
  const { rounds, work } = heldWork();
  work.wake();
  work.wake();
  const stopped = work.stop();
  rounds[0]?.resolve();
  await stopped;
  work.wake();
  assert.deepEqual([rounds.length, work.stopped], [1, true]);
});
