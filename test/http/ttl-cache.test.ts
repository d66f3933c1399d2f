import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cached, withTimeout } from '../../src/http/ttl-cache.ts';

const forever = Number.POSITIVE_INFINITY;

test('a fresh value or failure is not read again', async () => {
  let reads = 0;
  const good = cached(async () => ++reads, forever);
  assert.deepEqual([await good(), await good()], [1, 1]);

  const failing = async () => {
    throw new Error(`read ${++reads}`);
  };
  const bad = cached(failing, forever);
  await assert.rejects(bad(), /read 2/);
  await assert.rejects(bad(), /read 2/);
});

test('a stale value is read again', async () => {
  let reads = 0;
  const read = cached(async () => ++reads, 0);
  assert.deepEqual([await read(), await read()], [1, 2]);
});

test('a read times out, and its later failure is ignored', async () => {
  const { promise, reject } = Promise.withResolvers<never>();
  await assert.rejects(withTimeout(promise, 1), /did not answer/);
  reject(new Error('too late'));
  assert.equal(await withTimeout(Promise.resolve('in time'), 60_000), 'in time');
});
