import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ByteShares, bytesOf } from '../../src/core/byte-shares.ts';

const mega = 1_000_000;
const { signal } = new AbortController();

/** Ten megabytes, of which a workspace may hold nine. */
function ten() {
  const bytes = new ByteShares(10 * mega);
  const order: string[] = [];
  return {
    bytes,
    order,
    /** Waits for room, and notes when it is granted. */
    async hold(name: string, workspaceId: string, size: number, given = signal) {
      const free = await bytes.hold(workspaceId, size, given);
      order.push(free ? name : `${name} gave up`);
      return free;
    },
  };
}

/** All that follows from what is resolved by now. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a workspace holds all but a tenth', () => {
  const { bytes } = ten();
  const free = bytes.tryHold('a', 8 * mega);
  assert.ok(free);
  assert.equal(bytes.tryHold('a', 2 * mega), null);
  assert.ok(bytes.tryHold('a', mega));
  assert.equal(bytes.tryHold('a', mega), null);
  assert.ok(bytes.tryHold('b', mega));
  assert.equal(bytes.used, 10 * mega);
  free();
  free();
  assert.equal(bytes.used, 2 * mega);
});

test('a workspace that holds nothing gets what it asks for', () => {
  const { bytes } = ten();
  assert.ok(bytes.tryHold('a', 9 * mega));
  assert.ok(bytes.tryHold('b', 20 * mega));
  assert.equal(bytes.tryHold('b', mega), null);
});

test('nobody waits for what is short', async () => {
  const { bytes } = ten();
  assert.ok(bytes.tryHold('a', 9 * mega));
  const waiting = bytes.hold('a', mega, signal);
  assert.ok(bytes.tryHold('a', 32_768));
  assert.equal(bytes.tryHold('a', 32_769), null);
  assert.equal(bytes.paused, 1);
  bytes.close();
  assert.equal(await waiting, null);
});

describe('who waits', () => {
  test('gets room in the order of arrival', async () => {
    const { bytes, order, hold } = ten();
    const free = bytes.tryHold('a', 8 * mega);
    const first = hold('first', 'a', 9 * mega);
    const second = hold('second', 'a', mega);
    assert.equal(bytes.paused, 2);
    free?.();
    (await first)?.();
    await second;
    assert.deepEqual([order, bytes.used, bytes.paused], [['first', 'second'], mega, 0]);
  });

  test('gets room first if its workspace holds least', async () => {
    const { bytes, order, hold } = ten();
    const most = bytes.tryHold('a', 6 * mega);
    bytes.tryHold('a', 2 * mega);
    bytes.tryHold('b', mega);
    void hold('a', 'a', 4 * mega);
    void hold('b', 'b', 4 * mega);
    most?.();
    await settled();
    assert.deepEqual(order, ['b']);
  });

  test('leaves with its signal, and lets those behind it pass', async () => {
    const { bytes, order, hold } = ten();
    bytes.tryHold('a', 8 * mega);
    const leaving = new AbortController();
    void hold('first', 'a', 5 * mega, leaving.signal);
    void hold('second', 'a', mega);
    leaving.abort();
    await settled();
    assert.deepEqual(order.toSorted(), ['first gave up', 'second']);
    assert.equal(await bytes.hold('a', mega, leaving.signal), null);
  });

  test('gives up when the process shuts down', async () => {
    const { bytes, order, hold } = ten();
    bytes.tryHold('a', 9 * mega);
    void hold('first', 'a', mega);
    bytes.close();
    await settled();
    assert.deepEqual(order, ['first gave up']);
    assert.equal(await bytes.hold('a', mega, signal), null);
  });
});

test('readers of one value hold it together', () => {
  const { bytes } = ten();
  const value = {};
  const first = bytes.tryHold('a', 5 * mega, value);
  const second = bytes.tryHold('a', 5 * mega, value);
  const reserved = bytes.tryHold('a', 4 * mega);
  assert.ok(first && second && reserved);
  const third = bytes.share(value, reserved);
  assert.equal(bytes.used, 5 * mega);
  first();
  second();
  assert.equal(bytes.used, 5 * mega);
  third();
  assert.equal(bytes.used, 0);
  assert.ok(bytes.tryHold('a', 6 * mega, value));
  assert.equal(bytes.used, 6 * mega);
});

test('texts have two bytes for each character, wherever they are', () => {
  const value = { a: 'abc', b: null, c: 5, d: [{ e: 'é' }, new Date(0)], f: undefined };
  assert.equal(bytesOf(value), 8);
});
