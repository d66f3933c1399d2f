import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromDateInput, toDateInput } from '../../dashboard/data/text/day-range.ts';

process.env.TZ = 'America/Santiago';

test('an unchanged day keeps its exact time', () => {
  const before = '2026-03-10T14:25:36.123Z';
  assert.equal(fromDateInput(toDateInput(before), 'start', before), before);
  assert.equal(fromDateInput(toDateInput(before), 'end', before), before);
  assert.equal(fromDateInput('', 'start', ''), '');
});

test("a chosen day is in the viewer's time zone", () => {
  assert.equal(fromDateInput('2026-07-01', 'start', ''), '2026-07-01T04:00:00.000Z');
  assert.equal(fromDateInput('2026-07-01', 'end', ''), '2026-07-02T03:59:59.999Z');
  assert.equal(fromDateInput('', 'end', '2026-07-02T03:59:59.999Z'), '');
});

test('rejects invalid days', () => {
  assert.equal(fromDateInput('12345-01-01', 'start', ''), null);
  assert.equal(toDateInput('no time'), '');
});
