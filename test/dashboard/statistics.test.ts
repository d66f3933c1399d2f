import assert from 'node:assert/strict';
import { test } from 'node:test';
import { intervals, lastDays } from '../../dashboard/data/executions/statistics.ts';

// In this time zone 6 September 2026 starts at 1:00.
process.env.TZ = 'America/Santiago';
const changeDay = '2026-09-06T04:00:00.000Z';

test('days after one without a midnight start at midnight', () => {
  const startDate = '2026-09-05T04:00:00.000Z';
  const endDate = '2026-09-09T03:00:00.000Z';
  const days = intervals({ level: 'day', startDate, endDate, buckets: [] });
  assert.deepEqual(
    days.map(({ start }) => start),
    [startDate, changeDay, '2026-09-07T03:00:00.000Z', '2026-09-08T03:00:00.000Z'],
  );
});

test('a range may start or end with a day without a midnight', () => {
  const first = intervals({
    ...{ level: 'day', startDate: changeDay, buckets: [] },
    endDate: '2026-09-08T03:00:00.000Z',
  } as const);
  assert.deepEqual(
    first.map(({ start }) => start),
    [changeDay, '2026-09-07T03:00:00.000Z'],
  );
  const noon = Date.parse('2026-09-06T15:00:00.000Z');
  assert.equal(lastDays(3, noon).startDate, '2026-09-04T04:00:00.000Z');
  assert.equal(lastDays(1, noon).startDate, changeDay);
});
