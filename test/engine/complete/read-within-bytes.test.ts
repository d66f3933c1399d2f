import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ByteShares } from '../../../src/core/byte-shares.ts';
import { readWithinBytes } from '../../../src/engine/stream/read-within-bytes.ts';

const mega = 1_000_000;
const { signal } = new AbortController();

/** A budget of ten megabytes of which eight are in use, and a record of four. */
function full() {
  const bytes = new ByteShares(10 * mega);
  const free = bytes.tryHold('a', 8 * mega) ?? assert.fail();
  let reads = 0;
  let text = 'x'.repeat(2 * mega);
  return {
    ...{ bytes, free },
    reading: { bytes, workspaceId: 'a', signal },
    read: async () => {
      reads++;
      return { text };
    },
    grow: () => {
      text = 'x'.repeat(3 * mega);
    },
    reads: () => reads,
  };
}

const paused = async (bytes: ByteShares) => {
  while (bytes.paused === 0) await new Promise(setImmediate);
};

test('what there is no room for is read again once there is', async () => {
  const { bytes, free, reading, read, reads } = full();
  const waiting = readWithinBytes(reading, read);
  await paused(bytes);
  assert.deepEqual([reads(), bytes.used], [1, 8 * mega]);
  free();
  const found = await waiting;
  assert.deepEqual([reads(), bytes.used, found?.value.text.length], [2, 4 * mega, 2 * mega]);
  found?.free();
  assert.equal(bytes.used, 0);
});

test('what has grown meanwhile is counted as it is', async () => {
  const { bytes, free, reading, read, reads, grow } = full();
  const waiting = readWithinBytes(reading, read);
  await paused(bytes);
  grow();
  free();
  const found = await waiting;
  assert.deepEqual([reads(), bytes.used, found?.value.text.length], [2, 6 * mega, 3 * mega]);
});

test('a wait ends with its signal, and a failed read frees what it has reserved', async () => {
  const { bytes, free, reading, read } = full();
  const leaving = new AbortController();
  const left = readWithinBytes({ ...reading, signal: leaving.signal }, read);
  await paused(bytes);
  leaving.abort();
  assert.equal(await left, null);
  let isBroken = false;
  const broken = readWithinBytes(reading, async () => {
    if (isBroken) throw new Error('broken');
    return read();
  });
  await paused(bytes);
  isBroken = true;
  free();
  await assert.rejects(broken, /broken/);
  assert.equal(bytes.used, 0);
});

test('what does not exist holds nothing', async () => {
  const { bytes, reading } = full();
  const found = await readWithinBytes(reading, async () => null);
  found?.free();
  assert.deepEqual([found?.value, bytes.used], [null, 8 * mega]);
});
