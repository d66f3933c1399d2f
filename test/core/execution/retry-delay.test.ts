import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { delayWithin, retryDelayMs } from '../../../src/core/execution/retry-delay.ts';

test('the delay doubles, with a jitter of ±50%', () => {
  assert.deepEqual(
    [1, 2, 3, 4].map((failures) => retryDelayMs(failures, 0, 0.5)),
    [500, 1_000, 2_000, 4_000],
  );
  assert.equal(retryDelayMs(1, 0, 0), 250);
  assert.equal(retryDelayMs(1, 0, 1), 750);
});

test('the delay exceeds Retry-After by a bounded amount', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000 }),
      fc.integer({ min: 0, max: 3_600_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (failures, retryAfterMs, random) => {
        const delayMs = retryDelayMs(failures, retryAfterMs, random);
        assert.ok(delayMs > retryAfterMs);
        assert.ok(delayMs <= retryAfterMs + 90_000);
      },
    ),
  );
});

test('a hint replaces the doubling', () => {
  assert.equal(retryDelayMs(9, 3_000, 0.5), 3_500);
});

test('a delay beyond the deadline ends before it, unless no time is left for another call', () => {
  assert.equal(delayWithin(10_000, 9_999, 0.5), 9_999);
  assert.deepEqual(
    [0, 0.5, 1].map((random) => delayWithin(10_000, 10_000, random)),
    [2_500, 5_000, 7_500],
  );
  assert.equal(delayWithin(1_000, 1_000, 0.5), null);
  assert.equal(delayWithin(-1, 0, 0.5), null);
});
