import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rateHeaders } from '../../../src/http/limits/rate-headers.ts';

const nowMs = 60_000_000;

function window(window: 'minute' | 'hour' | 'day', remaining: number, resetsInMs: number) {
  return { scope: 'key', window, limit: 10, remaining, resetAtMs: nowMs + resetsInMs } as const;
}

test('the headers list all windows and show the tightest one', () => {
  const states = [window('minute', 3, 1_500), window('hour', 2, 90_000), window('day', 9, 5_000)];
  assert.deepEqual(rateHeaders(states, nowMs), {
    'ratelimit-policy': '"key-minute";q=10;w=60, "key-hour";q=10;w=3600, "key-day";q=10;w=86400',
    ratelimit: '"key-hour";r=2;t=90',
    'x-ratelimit-limit': '10',
    'x-ratelimit-remaining': '2',
    'x-ratelimit-reset': '60090',
  });
});

test('of a key and the keys that issued it, the tightest window counts', () => {
  const headers = rateHeaders([window('minute', 3, 1_500), window('minute', 1, 1_500)], nowMs);
  assert.equal(headers['ratelimit-policy'], '"key-minute";q=10;w=60');
  assert.equal(headers['x-ratelimit-remaining'], '1');
});
