import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitHashing } from '../../../../src/features/people/access/hashing-limit.ts';

test('a few run at once, some wait, and more are refused', async () => {
  const limited = limitHashing({ concurrent: 2, waiting: 2 });
  const begun: number[] = [];
  const ends = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const all = ends.map(({ promise }, i) =>
    limited(() => {
      begun.push(i);
      return promise;
    }),
  );
  await assert.rejects(
    limited(async () => {}),
    { code: 'UNAVAILABLE' },
  );
  assert.deepEqual(begun, [0, 1]);
  ends[1]?.reject(new Error('failed'));
  await assert.rejects(all[1] ?? Promise.resolve(), /failed/);
  assert.deepEqual(begun, [0, 1, 2]);
  for (const end of ends) end.resolve();
  await Promise.all([all[0], all[2], all[3]]);
  assert.deepEqual(begun, [0, 1, 2, 3]);
  assert.equal(await limited(async () => 'free again'), 'free again');
});
