import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTurns } from '../../../src/api/http/semaphore.ts';

test('a few at once, the others in their turn, and too many are sent away', async () => {
  const turn = createTurns({ atOnce: 2, waiting: 2 });
  const begun: number[] = [];
  const ends = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const all = ends.map(({ promise }, i) =>
    turn(() => {
      begun.push(i);
      return promise;
    }),
  );
  await assert.rejects(
    turn(async () => {}),
    { code: 'UNAVAILABLE' },
  );
  assert.deepEqual(begun, [0, 1]);
  ends[1]?.reject(new Error('failed'));
  await assert.rejects(all[1] ?? Promise.resolve(), /failed/);
  assert.deepEqual(begun, [0, 1, 2]);
  for (const end of ends) end.resolve();
  await Promise.all([all[0], all[2], all[3]]);
  assert.deepEqual(begun, [0, 1, 2, 3]);
  assert.equal(await turn(async () => 'free again'), 'free again');
});
