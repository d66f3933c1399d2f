import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startMaintenance } from '../../src/worker/start-maintenance.ts';

test('a round that takes long holds up no other, and ends when told to', async () => {
  const folded = Promise.withResolvers<void>();
  let ended = false;
  const house = startMaintenance({
    maintain: () => Promise.reject(new Error('no room')),
    rounds: {
      retention: (signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            ended = true;
            resolve();
          });
        }),
      folding: async () => folded.resolve(),
    },
    onError: (error, what) =>
      assert.deepEqual([String(error), what], ['Error: no room', 'maintenance']),
  });
  await folded.promise;
  await house.stop();
  assert.equal(ended, true);
});
