import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatCost,
  formatCostSum,
  formatDuration,
  formatRelativeTime,
} from '../../dashboard/data/text/format.ts';

/** Values at unit boundaries, which round to the next unit. In the locale of the test run. */

test('formats a duration', () => {
  const durations = [999.4, 999.6, 9_994, 9_999, 59_949, 59_960, 3_599_400, 3_599_600];
  assert.deepEqual(
    durations.map((ms) => formatDuration(ms)),
    ['999 ms', '1.00 s', '9.99 s', '10.0 s', '59.9 s', '1 min 0 s', '59 min 59 s', '1 h 0 min'],
  );
});

test('formats a relative time', () => {
  const now = Date.parse('2026-11-23T12:00:00Z');
  const words = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
  for (const [seconds, count, unit] of [
    [59.4, 59, 'second'],
    [59.7, 1, 'minute'],
    [3_569, 59, 'minute'],
    [3_590, 1, 'hour'],
    [84_000, 23, 'hour'],
    [86_000, 1, 'day'],
    [29.4 * 86_400, 29, 'day'],
    [-3_590, -1, 'hour'],
  ] as const) {
    const at = new Date(now - seconds * 1_000).toISOString();
    assert.equal(formatRelativeTime(at, now), words.format(-count, unit));
  }
});

test('formats a cost with at least cents and two significant digits', () => {
  for (const [usd, shown, digits] of [
    [0, 0, 2],
    [0.1, 0.1, 2],
    [0.996, 1, 2],
    [0.14, 0.14, 2],
    [0.05, 0.05, 2],
    [0.0999, 0.1, 2],
    [0.012, 0.012, 3],
    [0.00996, 0.01, 2],
    [0.0012345, 0.0012, 4],
    [1, 1, 2],
    [12.345, 12.35, 2],
    [1_234.5, 1_234.5, 2],
  ] as const) {
    const dollars = new Intl.NumberFormat(undefined, {
      ...{ style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' },
      minimumFractionDigits: digits,
    });
    assert.equal(formatCost(usd), dollars.format(shown));
  }
});

test('a sum with unknown costs is a lower bound, and nothing known is unknown', () => {
  const shown = (costUSD: number, costUnknown: number) => formatCostSum({ costUSD, costUnknown });
  assert.deepEqual(
    [shown(0, 0), shown(2, 0), shown(2, 1), shown(0, 1)],
    [formatCost(0), formatCost(2), `≥ ${formatCost(2)}`, 'unknown'],
  );
});
