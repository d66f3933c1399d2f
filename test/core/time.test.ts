import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseBound, parseMoment } from '../../src/core/time.ts';

const cases: [string, start: string, end: string][] = [
  ['2026-11-21', '2026-11-21T00:00:00.000Z', '2026-11-21T23:59:59.999Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z', '2024-02-29T23:59:59.999Z'],
  ['2026-11-21T09:30', '2026-11-21T09:30:00.000Z', '2026-11-21T09:30:00.000Z'],
  ['2026-11-21T09:30:15Z', '2026-11-21T09:30:15.000Z', '2026-11-21T09:30:15.000Z'],
  ['2026-11-21t09:30:15z', '2026-11-21T09:30:15.000Z', '2026-11-21T09:30:15.000Z'],
  ['2026-11-21 09:30:15.25Z', '2026-11-21T09:30:15.250Z', '2026-11-21T09:30:15.250Z'],
  ['2026-11-21T09:30:15,25Z', '2026-11-21T09:30:15.250Z', '2026-11-21T09:30:15.250Z'],
  ['2026-11-21T09:30:15.1234Z', '2026-11-21T09:30:15.124Z', '2026-11-21T09:30:15.123Z'],
  ['2026-11-21T09:30:15.999999999Z', '2026-11-21T09:30:16.000Z', '2026-11-21T09:30:15.999Z'],
  ['2026-11-21T09:30:00+05:30', '2026-11-21T04:00:00.000Z', '2026-11-21T04:00:00.000Z'],
  ['2026-11-21T09:30:00-0800', '2026-11-21T17:30:00.000Z', '2026-11-21T17:30:00.000Z'],
  ['2026-01-01T00:00:00+01:00', '2025-12-31T23:00:00.000Z', '2025-12-31T23:00:00.000Z'],
  ['0001-01-01', '0001-01-01T00:00:00.000Z', '0001-01-01T23:59:59.999Z'],
];
for (const [text, start, end] of cases) {
  test(`${text} starts at ${start} and ends at ${end}`, () => {
    assert.equal(iso(parseBound(text, 'start')), start);
    assert.equal(iso(parseBound(text, 'end')), end);
    assert.equal(parseMoment(text), parseBound(text, 'start'));
  });
}

const invalid = [
  '',
  'today',
  '2026',
  '2026-11',
  '2026-13-01',
  '2026-00-01',
  '2026-02-29',
  '2026-11-31',
  '2026-11-00',
  '21-11-2026',
  '2026/11/21',
  '2026-11-21T24:00:00Z',
  '2026-11-21T09:60:00Z',
  '2026-11-21T09:30:60Z',
  '2026-11-21T09',
  '2026-11-21T09:30:15.Z',
  '2026-11-21T09:30:15.1234567890Z',
  '2026-11-21T09:30:00+24:00',
  '2026-11-21T09:30:00+05',
  '2026-11-21Z',
  ' 2026-11-21',
  '2026-11-21\n',
  '+002026-11-21',
  '1795253400000',
];
for (const text of invalid) {
  test(`${JSON.stringify(text)} is not a date`, () => {
    assert.equal(parseBound(text, 'start'), null);
    assert.equal(parseBound(text, 'end'), null);
  });
}

test('a time in a response parses to the same time', () => {
  const time = fc.date({
    min: new Date(0),
    max: new Date(Date.UTC(9999, 11, 31)),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(time, (date) => {
      assert.equal(parseBound(date.toISOString(), 'start'), date.getTime());
      assert.equal(parseBound(date.toISOString(), 'end'), date.getTime());
    }),
  );
});

test('no text throws', () => {
  fc.assert(fc.property(fc.string(), (text) => void parseBound(text, 'end')));
});

function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

test('a date is a day of the given zone; a timestamp is not shifted', () => {
  const day = (side: 'start' | 'end') => parseBound('2026-03-29', side, 'Europe/Berlin');
  assert.equal(iso(day('start')), '2026-03-28T23:00:00.000Z');
  assert.equal(iso(day('end')), '2026-03-29T21:59:59.999Z');
  assert.equal(
    iso(parseBound('2026-03-29T10:00', 'start', 'Asia/Kathmandu')),
    '2026-03-29T10:00:00.000Z',
  );
});
