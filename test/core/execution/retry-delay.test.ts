import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { retryDelayMs } from '../../../src/core/execution/retry-delay.ts';

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
