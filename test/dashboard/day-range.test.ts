import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  fromDateInput,
  fromTimeInputs,
  toDateInput,
  toTimeInputs,
} from '../../dashboard/data/text/day-range.ts';

const { TZ } = process.env;
process.env.TZ = 'America/Santiago';
after(() => {
  if (TZ === undefined) delete process.env.TZ;
  else process.env.TZ = TZ;
});

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

test('a time of day bounds a minute, without one the whole day', () => {
  const at = (time: string, edge: 'start' | 'end', before = '') =>
    fromTimeInputs({ day: '2026-07-01', time }, edge, before);
  assert.equal(at('14:00', 'start'), '2026-07-01T18:00:00.000Z');
  assert.equal(at('14:30', 'end'), '2026-07-01T18:30:59.999Z');
  assert.equal(at('', 'start'), '2026-07-01T04:00:00.000Z');
  assert.equal(at('', 'end'), '2026-07-02T03:59:59.999Z');
  const before = '2026-07-01T18:00:12.345Z';
  assert.deepEqual(toTimeInputs(before, 'start'), { day: '2026-07-01', time: '14:00' });
  assert.equal(at('14:00', 'start', before), before);
  assert.equal(at('14:01', 'start', before), '2026-07-01T18:01:00.000Z');
  assert.equal(at('', 'start', before), '2026-07-01T04:00:00.000Z');
  assert.equal(toTimeInputs('2026-07-02T03:59:59.999Z', 'end').time, '');
  assert.equal(fromTimeInputs({ day: '', time: '14:00' }, 'start', before), '');
  assert.equal(fromTimeInputs({ day: '12345-01-01', time: '14:00' }, 'end', ''), null);
});
