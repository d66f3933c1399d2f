import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryAfterSeconds, retryDelayMs } from '../../../src/core/event/retry.ts';

test('attempts follow the schedule, each delay varied by a fifth', () => {
  const seconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
  for (const [index, delay] of seconds.entries()) {
    assert.equal(retryDelayMs(index + 1, 0, 0), delay * 800);
    assert.equal(retryDelayMs(index + 1, 0, 0.5), delay * 1_000);
    assert.equal(retryDelayMs(index + 1, 0, 1), delay * 1_200);
  }
  assert.equal(retryDelayMs(10, 0, 0.5), null);
});

test('a later Retry-After is honored, up to a day', () => {
  assert.equal(retryDelayMs(1, 60, 0.5), 60_000);
  assert.equal(retryDelayMs(2, 60, 0.5), 300_000);
  assert.equal(retryDelayMs(1, 1_000_000, 0.5), 86_400_000);
  assert.equal(retryDelayMs(10, 60, 0.5), null);
});

test('Retry-After is a number of seconds or a date', () => {
  const now = Date.UTC(2026, 10, 21, 9, 30);
  assert.equal(retryAfterSeconds(null, now), 0);
  assert.equal(retryAfterSeconds(' 120 ', now), 120);
  assert.equal(retryAfterSeconds('Sat, 21 Nov 2026 09:31:00 GMT', now), 60);
  assert.equal(retryAfterSeconds('Sat, 21 Nov 2026 09:29:00 GMT', now), 0);
  assert.equal(retryAfterSeconds('soon', now), 0);
});
