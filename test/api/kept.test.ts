import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kept } from '../../src/api/kept.ts';

const timeoutMs = 60_000;

test('what is fresh is not read again, for better or worse', async () => {
  let reads = 0;
  const good = kept(async () => ++reads, { keptMs: Number.POSITIVE_INFINITY, timeoutMs });
  assert.deepEqual([await good(), await good()], [1, 1]);

  const failing = async () => {
    throw new Error(`read ${++reads}`);
  };
  const bad = kept(failing, { keptMs: Number.POSITIVE_INFINITY, timeoutMs });
  await assert.rejects(bad(), /read 2/);
  await assert.rejects(bad(), /read 2/);
});

test('what is stale is read again', async () => {
  let reads = 0;
  const read = kept(async () => ++reads, { keptMs: 0, timeoutMs });
  assert.deepEqual([await read(), await read()], [1, 2]);
});

test('what does not answer is given up, and its later failure disturbs nobody', async () => {
  const { promise, reject } = Promise.withResolvers<never>();
  const read = kept(() => promise, { keptMs: Number.POSITIVE_INFINITY, timeoutMs: 1 });
  await assert.rejects(read(), /did not answer/);
  reject(new Error('too late'));
});
