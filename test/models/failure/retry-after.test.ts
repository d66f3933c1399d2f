import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryAfterMs, retryAfterMsMax } from '../../../src/models/failure/retry-after.ts';

const now = Date.parse('Sat, 21 Nov 2026 10:00:00 GMT');
const date = 'Sat, 21 Nov 2026 09:00:00 GMT';

const seconds = (after: number) => String(now / 1_000 + after);
const milliseconds = (after: number) => String(now + after * 1_000);
const body = (error: object) => JSON.stringify({ error });
const groqResets = { 'x-ratelimit-reset-requests': '2.9s', 'x-ratelimit-reset-tokens': '1m2.9s' };
const bothUsedUp = { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-remaining-tokens': '0' };
const anthropicResets = {
  'anthropic-ratelimit-requests-remaining': '40',
  'anthropic-ratelimit-requests-reset': '2026-11-21T10:00:03Z',
  'anthropic-ratelimit-input-tokens-remaining': '0',
  'anthropic-ratelimit-input-tokens-reset': '2026-11-21T10:00:20Z',
};
const upstreamHeaders = {
  'X-RateLimit-Limit': '20',
  'X-RateLimit-Remaining': '0',
  'X-RateLimit-Reset': milliseconds(3),
};
const openRouterBody = body({ code: 429, metadata: { headers: upstreamHeaders } });

const cases: [Record<string, string>, string, number][] = [
  [{}, '', 0],
  [{ 'retry-after': '7' }, '', 7_000],
  [{ 'retry-after': ' 7 ' }, '', 7_000],
  [{ 'retry-after': '0' }, '', 0],
  [{ 'retry-after': '1.5' }, '', 1_500],
  [{ 'retry-after': '0.0001' }, '', 1],
  [{ 'retry-after': '-5' }, '', 0],
  [{ 'retry-after': 'soon' }, '', 0],
  [{ 'retry-after': '' }, '', 0],
  [{ 'retry-after': '2026' }, '', 2_026_000],
  [{ 'retry-after': '86400' }, '', retryAfterMsMax],
  [{ 'retry-after': '9'.repeat(30) }, '', retryAfterMsMax],
  [{ 'retry-after-ms': '250', 'retry-after': '7' }, '', 250],
  [{ 'retry-after-ms': 'x', 'retry-after': '7' }, '', 7_000],
  [{ 'retry-after-ms': '1e9' }, '', 0],
  [{ 'retry-after': 'Sat, 21 Nov 2026 10:00:30 GMT' }, '', 30_000],
  [{ 'retry-after': 'Sat, 21 Nov 2026 09:59:30 GMT' }, '', 0],
  [{ 'retry-after': 'Sat, 21 Nov 2026 09:00:30 GMT', date }, '', 30_000],
  [{ 'retry-after': 'Sat, 21 Nov 2026 10:00:30 GMT', date: 'today' }, '', 30_000],
  [{ 'retry-after': 'Sun, 22 Nov 2026 10:00:00 GMT' }, '', retryAfterMsMax],
  [{ 'retry-after': '2026-11-21T10:00:30Z' }, '', 30_000],
  [{ 'retry-after': '2026-11-21T11:00:30.5+01:00' }, '', 30_500],
  [{ 'retry-after': '2026-11-21' }, '', 0],
  [{ 'retry-after': '3s' }, '', 3_000],
  [{ 'retry-after': '1m2.9s' }, '', 62_900],
  [{ 'retry-after': '2 minutes' }, '', 120_000],
  [{ 'retry-after': '250ms' }, '', 250],
  [{ 'retry-after': '-1' }, body({ message: 'Please try again in 3s.' }), 3_000],
  [{ 'retry-after': seconds(3) }, '', 3_000],
  [{ 'retry-after': milliseconds(3) }, '', 3_000],
  [{ 'retry-after': seconds(-3) }, '', 0],
  [{ 'x-ms-retry-after-ms': '2500', 'retry-after': '7' }, '', 2_500],
  [{ 'x-ratelimit-reset': milliseconds(3), 'x-ratelimit-remaining': '0' }, '', 3_000],
  [{ 'x-ratelimit-reset': seconds(3) }, '', 3_000],
  [{ 'x-ratelimit-reset': '3' }, '', 3_000],
  [{ 'ratelimit-reset': '3' }, '', 3_000],
  [groqResets, '', 2_900],
  [{ ...groqResets, 'x-ratelimit-remaining-requests': '0' }, '', 2_900],
  [{ ...groqResets, 'x-ratelimit-remaining-tokens': '0' }, '', 62_900],
  [{ ...groqResets, ...bothUsedUp }, '', 62_900],
  [{ ...groqResets, 'retry-after': '9' }, '', 9_000],
  [{ 'anthropic-ratelimit-requests-reset': '2026-11-21T10:00:03Z' }, '', 3_000],
  [anthropicResets, '', 20_000],
  [{ 'x-ratelimit-limit-requests': '5', 'x-ratelimit-reset': 'soon' }, '', 0],
  [{}, openRouterBody, 3_000],
  [{}, '{"error":"Model m is currently loading","estimated_time":20.0}', 20_000],
  [{}, body({ message: 'slow', retry_after: 4 }), 4_000],
  [{}, body({ message: 'Limit 30000, Used 29000. Please try again in 6s. Visit a page.' }), 6_000],
  [{}, body({ message: 'Please try again in 1m2.9s.' }), 62_900],
  [{}, body({ message: 'Please try again in 120ms.' }), 120],
  [{}, body({ message: 'Please retry in 41.5s.' }), 41_500],
  [{}, body({ message: 'Please retry after 26 seconds.' }), 26_000],
  [{}, body({ message: 'Please wait 90 seconds before retrying.' }), 90_000],
  [{}, body({ message: 'Try again in 5 minutes' }), 300_000],
  [{}, body({ message: 'We retry 3 times. Wait for a month.' }), 0],
  [{}, body({ message: 'Please wait before trying again.' }), 0],
  [{ 'retry-after': 'Saturday, 21-Nov-26 10:00:30 GMT' }, '', 30_000],
  [{ 'retry-after': 'Sat Nov 21 10:00:30 2026' }, '', 30_000],
  [{ 'retry-after': 'Tue Dec  1 10:00:00 2026' }, '', retryAfterMsMax],
  [{ 'retry-after': 'Sat Nov 21 09:00:30 2026', date: 'Sat Nov 21 09:00:00 2026' }, '', 30_000],
  [{ 'retry-after': '7, 9' }, '', 9_000],
  [{ 'retry-after': '9,7' }, '', 9_000],
  [{ 'retry-after': '7, soon' }, '', 7_000],
  [{ 'retry-after': '7, Sat, 21 Nov 2026 10:00:30 GMT' }, '', 30_000],
  [{ 'retry-after': 'Sat, 21 Nov 2026 10:00:30 GMT, Sat, 21 Nov 2026 10:00:20 GMT' }, '', 30_000],
  [{ 'retry-after-ms': '250, 300', 'retry-after': '7' }, '', 300],
  [{}, '{"error":{"details":[{"retryDelay": "36s"}]}}', 36_000],
  [{}, '{"retryDelay":"0.5s"}', 500],
  [{ 'retry-after': '1' }, '{"retryDelay":"36s"}', 1_000],
  [{ 'retry-after': '0' }, '{"retryDelay":"36s"}', 0],
];

for (const [headers, body, expected] of cases) {
  test(`${JSON.stringify(headers)} ${body} is ${expected} ms`, () => {
    assert.equal(retryAfterMs(headers, body, { nowMs: now, limited: true }), expected);
  });
}

test('resets count only if a limit rejected the call', () => {
  const fault = { nowMs: now, limited: false };
  assert.equal(retryAfterMs({ ...groqResets, ...anthropicResets }, openRouterBody, fault), 0);
  assert.equal(retryAfterMs({ ...groqResets, 'retry-after': '2' }, '', fault), 2_000);
});
