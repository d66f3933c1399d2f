import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startMaintenance } from '../../../src/engine/run/start-maintenance.ts';

test('a long round does not delay other jobs, and stop aborts it', async () => {
  const rolledUp = Promise.withResolvers<void>();
  let ended = false;
  const maintenance = startMaintenance({
    maintain: () => Promise.reject(new Error('no room')),
    writeIndex: async () => {},
    rounds: {
      retention: (signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            ended = true;
            resolve();
          });
        }),
      rollup: async () => rolledUp.resolve(),
    },
    onError: (error, operation) =>
      assert.deepEqual([String(error), operation], ['Error: no room', 'maintenance']),
  });
  await rolledUp.promise;
  await maintenance.stop();
  assert.equal(ended, true);
});
