import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Span } from '../../../src/core/history/history-range.ts';
import { levelMs } from '../../../src/core/history/statistics.ts';
import {
  fits,
  type IntervalsRequest,
  intervalBounds,
  intervalLengths,
  intervalSpans,
} from '../../../src/features/history/rules/intervals.ts';

const ms = (text: string) => Date.parse(`${text}Z`);
const iso = (at: number) => new Date(at).toISOString().slice(0, 16);
const question: IntervalsRequest = {
  length: 'day',
  zone: 'Europe/Berlin',
  startMs: ms('2026-03-28T12:00'),
  endMs: ms('2026-03-30T12:00'),
  nowMs: ms('2026-11-21T09:30'),
};
const bounds = (some: Partial<IntervalsRequest>, intervalsMax = 1_500) =>
  intervalBounds({ ...question, ...some }, intervalsMax)?.map(iso) ?? null;

test('whole intervals cover the range, including days of 23 hours', () => {
  assert.deepEqual(bounds({}), [
    '2026-03-27T23:00',
    '2026-03-28T23:00',
    '2026-03-29T22:00',
    '2026-03-30T22:00',
  ]);
  assert.deepEqual(bounds({ length: 'all' }), ['2026-03-28T12:00', '2026-03-30T12:15']);
});

test('too many intervals are rejected', () => {
  assert.equal(bounds({}, 3)?.length, 4);
  assert.equal(bounds({}, 2), null);
  assert.equal(bounds({ startMs: ms('0001-01-01T00:00') }), null);
  assert.equal(bounds({ length: 'all', startMs: ms('0001-01-01T00:00') }, 1)?.length, 2);
});

test('an open range ends now and starts at the default distance', () => {
  const open = { startMs: null, endMs: null };
  assert.deepEqual(bounds({ ...open, length: 'minute' })?.length, 61);
  assert.deepEqual(bounds({ ...open, length: 'hour' })?.at(-1), '2026-11-21T10:00');
  assert.deepEqual(bounds({ ...open, length: 'hour' })?.length, 49);
  assert.deepEqual(bounds({ ...open, length: 'quarterHour' })?.length, 97);
  assert.deepEqual(bounds({ ...open, length: 'sixHours' })?.length, 29);
  assert.deepEqual(bounds({ ...open, length: 'week' })?.length, 14);
  assert.deepEqual(bounds({ ...open, length: 'day' })?.length, 31);
  assert.deepEqual(bounds({ ...open, length: 'day' })?.at(-1), '2026-11-21T23:00');
  assert.deepEqual(bounds({ ...open, length: 'all' }), ['2026-10-22T22:00', '2026-11-21T23:00']);
  assert.deepEqual(bounds({ length: 'all', endMs: null }), [
    '2026-03-28T12:00',
    '2026-11-21T23:00',
  ]);
});

test('a range uses UTC day buckets inside and finer buckets only at its edges', () => {
  const kathmandu = [ms('2026-05-31T18:15'), ms('2026-06-30T18:15')];
  assert.ok(!fits(kathmandu, 'hour'));
  assert.deepEqual(
    intervalSpans(kathmandu, ['day', 'quarter']).map(({ level, fromMs, toMs }) => [
      level,
      iso(fromMs),
      iso(toMs),
    ]),
    [
      ['quarter', '2026-05-31T18:15', '2026-06-01T00:00'],
      ['day', '2026-06-01T00:00', '2026-06-30T00:00'],
      ['quarter', '2026-06-30T00:00', '2026-06-30T18:15'],
    ],
  );
});

test('six hours begin at 0:00, 6:00, 12:00 and 18:00 on the clock', () => {
  const short = bounds({ length: 'sixHours' });
  assert.deepEqual(short?.slice(0, 7), [
    '2026-03-28T11:00',
    '2026-03-28T17:00',
    '2026-03-28T23:00',
    '2026-03-29T04:00',
    '2026-03-29T10:00',
    '2026-03-29T16:00',
    '2026-03-29T22:00',
  ]);
  const long = { startMs: ms('2026-10-25T12:00'), endMs: ms('2026-10-25T23:00') };
  assert.deepEqual(bounds({ length: 'sixHours', ...long }), [
    '2026-10-25T11:00',
    '2026-10-25T17:00',
    '2026-10-25T23:00',
    '2026-10-26T05:00',
  ]);
});

test('weeks begin on Mondays, quarters of an hour at the same time everywhere', () => {
  assert.deepEqual(bounds({ length: 'week' }), [
    '2026-03-22T23:00',
    '2026-03-29T22:00',
    '2026-04-05T22:00',
  ]);
  const day = { startMs: ms('2026-03-28T12:20'), endMs: ms('2026-03-28T12:50') };
  assert.deepEqual(bounds({ length: 'quarterHour', ...day }), [
    '2026-03-28T12:15',
    '2026-03-28T12:30',
    '2026-03-28T12:45',
    '2026-03-28T13:00',
  ]);
});

test('an hour with a clock change has one interval per local hour', () => {
  // At 02:45 clocks jump to 03:45: local hour 2 has 45 minutes, local hour 3 has 15.
  const [startMs, endMs] = [ms('2026-09-26T12:20'), ms('2026-09-26T15:20')];
  assert.deepEqual(bounds({ length: 'hour', zone: 'Pacific/Chatham', startMs, endMs }), [
    '2026-09-26T12:15',
    '2026-09-26T13:15',
    '2026-09-26T14:00',
    '2026-09-26T14:15',
    '2026-09-26T15:15',
    '2026-09-26T16:15',
  ]);
});

test('spans are contiguous, cover all intervals, and no bucket spans two intervals', () => {
  const request = fc.record({
    length: fc.constantFrom(...intervalLengths),
    zone: fc.constantFrom(
      'UTC',
      'Europe/Berlin',
      'Asia/Kathmandu',
      'Australia/Lord_Howe',
      'Pacific/Chatham',
    ),
    startMs: fc.integer({ min: ms('2026-03-20T00:00'), max: ms('2026-11-01T00:00') }),
    lengthMs: fc.nat(1_400 * levelMs.minute),
  });
  fc.assert(
    fc.property(request, ({ length, zone, startMs, lengthMs }) => {
      const days = length === 'minute' ? 1 : length === 'quarterHour' ? 14 : 20;
      const endMs = startMs + days * lengthMs;
      const found = intervalBounds({ length, zone, startMs, endMs, nowMs: 0 }, 1_500);
      assert.ok(found);
      assert.ok((found[0] ?? 0) <= startMs && endMs < (found.at(-1) ?? 0));
      const by = fits(found, 'hour') ? (['day', 'hour'] as const) : (['day', 'quarter'] as const);
      const spans: Span[] = intervalSpans(found, length === 'minute' ? ['minute'] : by);
      assert.equal(spans[0]?.fromMs, found[0]);
      assert.equal(spans.at(-1)?.toMs, found.at(-1));
      for (const [index, { level, fromMs, toMs }] of spans.entries()) {
        assert.equal(fromMs, index === 0 ? found[0] : spans[index - 1]?.toMs);
        assert.ok(fits([fromMs, toMs], level));
        const inside: number[] = found.filter((bound) => fromMs <= bound && bound < toMs);
        assert.ok(fits(inside, level));
      }
    }),
  );
});
