import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { dayOf, timeOf } from '../../dashboard/data/day-range.ts';

const { TZ } = process.env;
process.env.TZ = 'America/Santiago';
after(() => {
  if (TZ === undefined) delete process.env.TZ;
  else process.env.TZ = TZ;
});

test('a day that was not touched keeps its time to the millisecond', () => {
  const before = '2026-03-10T14:25:36.123Z';
  assert.equal(timeOf(dayOf(before), 'start', before), before);
  assert.equal(timeOf(dayOf(before), 'end', before), before);
  assert.equal(timeOf('', 'start', ''), '');
});

test("a day that was set is the viewer's", () => {
  assert.equal(timeOf('2026-07-01', 'start', ''), '2026-07-01T04:00:00.000Z');
  assert.equal(timeOf('2026-07-01', 'end', ''), '2026-07-02T03:59:59.999Z');
  assert.equal(timeOf('', 'end', '2026-07-02T03:59:59.999Z'), '');
});

test('what is no day is none', () => {
  assert.equal(timeOf('12345-01-01', 'start', ''), null);
  assert.equal(dayOf('no time'), '');
});
