import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cover, everything } from '../../../src/core/history/history-range.ts';
import { uuidFloor } from '../../../src/core/id.ts';

test('a range without an end has no finer buckets and no records at its end', () => {
  const whole = cover(everything, ['day', 'hour', 'minute']);
  assert.deepEqual(
    whole.spans.map(({ level }) => level),
    ['day'],
  );
  assert.deepEqual(whole.cuts, []);
  const noon = Date.UTC(2026, 2, 4, 12);
  const { spans, cuts } = cover({ ...everything, fromId: uuidFloor(noon + 1) }, ['day', 'hour']);
  assert.deepEqual(
    spans.map(({ level, fromMs }) => [level, new Date(fromMs).toISOString().slice(0, 13)]),
    [
      ['day', '2026-03-05T00'],
      ['hour', '2026-03-04T13'],
    ],
  );
  assert.deepEqual(cuts, [{ fromId: uuidFloor(noon + 1), toId: uuidFloor(noon + 3_600_000) }]);
});
