import assert from 'node:assert/strict';
import { test } from 'node:test';
import { awaitEnd } from '../../../src/engine/read/await-end.ts';
import { createWaiters } from '../../../src/engine/read/wait.ts';

test('a shutdown while the database is unavailable ends the wait without a result, not with an error', async () => {
  const waiters = createWaiters({ findEnded: async () => [], onError: () => assert.fail() });
  const { signal } = new AbortController();
  const read = async () => {
    // The shutdown begins during the first read.
    waiters.close();
    throw new Error('unavailable');
  };
  assert.equal(await awaitEnd(waiters, 'id', signal, read, () => true), null);
  await assert.rejects(
    awaitEnd(waiters, 'id', signal, read, () => false),
    /unavailable/,
  );
});
