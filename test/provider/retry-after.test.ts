import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryAfterMs, retryAfterMsMax } from '../../src/provider/retry-after.ts';

const now = Date.parse('Sat, 21 Nov 2026 10:00:00 GMT');
const date = 'Sat, 21 Nov 2026 09:00:00 GMT';

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
  [{ 'retry-after': '2026-11-21T10:00:30Z' }, '', 0],
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
    assert.equal(retryAfterMs(headers, body, now), expected);
  });
}
