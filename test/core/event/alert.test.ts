import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type AlertSettings,
  alertMetrics,
  type CallSums,
  isCurrent,
  measure,
  nextState,
  noDataRules,
} from '../../../src/features/events/rules/alert.ts';
import {
  type MinuteSums,
  previewAlert,
  queueAges,
  quotaValues,
  windowValues,
} from '../../../src/features/events/rules/alert-preview.ts';

const settings: AlertSettings = {
  ...{ name: 'A', metric: 'failureRate', agentIds: null, tag: null, budgetId: null },
  ...{ threshold: 10, clearThreshold: 5, windowMinutes: 5, minCount: 0, noData: 'keep' },
};

test('an alert fires above its threshold and clears at or below the other', () => {
  const values = [10, 10.1, 10, 5.1, 5, 10, 11, 4];
  const states: string[] = [];
  for (const value of values) {
    states.push(nextState(settings, (states.at(-1) ?? 'ok') as 'ok', value));
  }
  assert.deepEqual(states, ['ok', 'firing', 'firing', 'firing', 'ok', 'ok', 'firing', 'ok']);
});

test('without data, an alert keeps its state, counts zero or fires', () => {
  const after = (noData: AlertSettings['noData']) =>
    (['ok', 'no_data', 'firing'] as const).map((state) =>
      nextState({ ...settings, noData }, state, null),
    );
  assert.deepEqual(after('keep'), ['no_data', 'no_data', 'firing']);
  assert.deepEqual(after('zero'), ['ok', 'ok', 'ok']);
  assert.deepEqual(after('fire'), ['firing', 'firing', 'firing']);
});

test('each metric counts the calls that it is about', () => {
  const sums: CallSums = {
    ...{ occurred: 10, succeeded: 3, failed: 1, costUsd: '0.30', costUnknown: 2 },
    latency: [0, 0, 0, 4],
  };
  const measured = (minCount: number) =>
    alertMetrics
      .filter((metric) => !isCurrent(metric))
      .map((metric) => measure({ metric, minCount }, sums));
  assert.deepEqual(measured(4), [0.25, 10, 2, 2, 0.3, 2]);
  assert.deepEqual(measured(5), [null, 10, null, null, 0.3, 2]);
  assert.deepEqual(measured(11), [null, null, null, null, null, null]);
  const none = { ...sums, occurred: 0, succeeded: 0, failed: 0, costUsd: '0', costUnknown: 0 };
  assert.deepEqual(
    (['failureRate', 'count', 'p95', 'costUSD'] as const).map((metric) =>
      measure({ metric, minCount: 0 }, { ...none, latency: [] }),
    ),
    [null, 0, null, 0],
  );
});

const minuteMs = 60_000;
const someMinutes = fc
  .uniqueArray(
    fc.record({
      startMs: fc.nat(60).map((minute) => minute * minuteMs),
      succeeded: fc.nat(5),
      failed: fc.nat(5),
      costUnknown: fc.nat(2),
      costUsd: fc.constantFrom('0', '0.1', '0.0000000003', '2'),
      latency: fc.array(fc.nat(3), { maxLength: 8 }),
    }),
    { selector: ({ startMs }) => startMs },
  )
  .map((minutes): MinuteSums[] =>
    minutes
      .map((one) => ({ ...one, occurred: one.succeeded + one.failed + 1 }))
      .sort((a, b) => a.startMs - b.startMs),
  );

/** The sums of a window, added up for each minute. */
function sumsOf(minutes: readonly MinuteSums[], fromMs: number, toMs: number): CallSums {
  const inside = minutes.filter(({ startMs }) => startMs >= fromMs && startMs < toMs);
  const total = (of: (one: MinuteSums) => number) => inside.reduce((sum, one) => sum + of(one), 0);
  return {
    occurred: total((one) => one.occurred),
    succeeded: total((one) => one.succeeded),
    failed: total((one) => one.failed),
    costUnknown: total((one) => one.costUnknown),
    costUsd: total((one) => Number(one.costUsd)).toFixed(10),
    latency: Array.from({ length: 8 }, (_, bin) => total((one) => one.latency[bin] ?? 0)),
  };
}

test('a preview has the firings of an evaluation every minute', () => {
  fc.assert(
    fc.property(
      someMinutes,
      fc.constantFrom(...alertMetrics.filter((metric) => !isCurrent(metric))),
      fc.constantFrom(...noDataRules),
      fc.integer({ min: 1, max: 20 }),
      fc.nat(3),
      fc.constantFrom(0.3, 2, 8),
      (minutes, metric, noData, windowMinutes, minCount, threshold) => {
        const alert = {
          ...{ ...settings, metric, noData, windowMinutes, minCount },
          ...{ threshold, clearThreshold: threshold / 2 },
        };
        const [fromMs, toMs] = [20 * minuteMs, 55 * minuteMs];
        const expected: { firedAtMs: number; clearedAtMs: number | null }[] = [];
        const values: unknown[] = [];
        let state: 'ok' | 'firing' | 'no_data' = 'ok';
        for (let atMs = fromMs; atMs <= toMs; atMs += minuteMs) {
          const value = measure(alert, sumsOf(minutes, atMs - windowMinutes * minuteMs, atMs));
          const next = nextState(alert, state, value);
          const last = expected.at(-1);
          if (next === 'firing' && state !== 'firing') {
            expected.push({ firedAtMs: atMs, clearedAtMs: null });
          } else if (next !== 'firing' && state === 'firing' && last) last.clearedAtMs = atMs;
          state = next;
          values.push({ atMs, value });
        }
        const preview = previewAlert(alert, windowValues(alert, minutes), { fromMs, toMs });
        assert.deepEqual(preview.firings, expected);
        assert.deepEqual(preview.values, values);
      },
    ),
  );
});

test('a long preview keeps the highest value of each step', () => {
  const minutes = [10, 11, 700].map((minute, index) => ({
    ...{ startMs: minute * minuteMs, occurred: [3, 9, 5][index] ?? 0, succeeded: 0, failed: 0 },
    ...{ costUsd: '0', costUnknown: 0, latency: [] },
  }));
  const alert = { ...settings, metric: 'count' as const, windowMinutes: 1 };
  const { values } = previewAlert(alert, windowValues(alert, minutes), {
    fromMs: 0,
    toMs: 1_440 * minuteMs,
  });
  assert.equal(values.length, 289);
  assert.deepEqual(
    values.filter(({ value }) => value !== 0),
    [
      { atMs: 10 * minuteMs, value: 9 },
      { atMs: 700 * minuteMs, value: 5 },
    ],
  );
});

test('the used quota begins again with each month', () => {
  const monthMs = (month: number) => Date.UTC(2026, month);
  const calls = [
    { startMs: monthMs(0), accepted: 3 },
    { startMs: monthMs(1) - minuteMs, accepted: 2 },
    { startMs: monthMs(1) + minuteMs, accepted: 4 },
  ];
  const at = [
    ...[monthMs(0), monthMs(0) + minuteMs, monthMs(1) - minuteMs],
    ...[monthMs(1), monthMs(1) + minuteMs, monthMs(1) + 2 * minuteMs, monthMs(2)],
  ];
  assert.deepEqual(at.map(quotaValues(calls, 10)), [0, 0.3, 0.3, 0, 0, 0.4, 0]);
  assert.deepEqual(at.slice(0, 2).map(quotaValues(calls, null)), [null, null]);
  assert.deepEqual(at.slice(0, 2).map(quotaValues(calls, 0)), [1, 1]);
});

test('the queue age is that of the oldest wait at each minute', () => {
  const waits = [
    { fromMs: 0.5 * minuteMs, lastMs: 3 * minuteMs },
    { fromMs: 1 * minuteMs, lastMs: 2 * minuteMs },
    { fromMs: 2.5 * minuteMs, lastMs: 4 * minuteMs },
    { fromMs: 6 * minuteMs, lastMs: null },
  ];
  const valueAt = queueAges(waits);
  const ages = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((minute) => valueAt(minute * minuteMs));
  assert.deepEqual(ages, [0, 30, 90, 150, 90, 0, 0, 60, 120]);
});
