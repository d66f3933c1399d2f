import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calendarDayStartMs, dayStartMs, findZone, hourStartMs } from '../../src/core/time-zone.ts';

const iso = (ms: number) => new Date(ms).toISOString().slice(0, 16);
const ms = (text: string) => Date.parse(`${text}Z`);

test('finds a zone by its name in any case; offsets and abbreviations are rejected', () => {
  assert.equal(findZone('Europe/Berlin'), 'Europe/Berlin');
  assert.equal(findZone('asia/KATHMANDU'), 'Asia/Kathmandu');
  assert.equal(findZone('utc'), 'UTC');
  for (const name of ['', ' ', '+05:45', '-03', 'CEST', 'Mars/Olympus', 'Europe/Berlin ']) {
    assert.equal(findZone(name), null, name);
  }
});

test('a day starts at local midnight and has 23, 24 or 25 hours', () => {
  const days: [zone: string, within: string, start: string, next: string][] = [
    ['UTC', '2026-03-29T23:59', '2026-03-29T00:00', '2026-03-30T00:00'],
    ['Europe/Berlin', '2026-03-29T12:00', '2026-03-28T23:00', '2026-03-29T22:00'],
    ['Europe/Berlin', '2026-10-25T12:00', '2026-10-24T22:00', '2026-10-25T23:00'],
    ['Asia/Kathmandu', '2026-06-01T18:14', '2026-05-31T18:15', '2026-06-01T18:15'],
    ['Asia/Kathmandu', '2026-06-01T18:15', '2026-06-01T18:15', '2026-06-02T18:15'],
    // This day has no midnight.
    ['Africa/Cairo', '2026-04-24T12:00', '2026-04-23T22:00', '2026-04-24T21:00'],
    // This day has two midnights; the first one counts.
    ['America/Havana', '2026-11-01T12:00', '2026-11-01T04:00', '2026-11-02T05:00'],
    ['Pacific/Kiritimati', '2026-12-31T09:59', '2026-12-30T10:00', '2026-12-31T10:00'],
  ];
  for (const [zone, within, start, next] of days) {
    assert.equal(iso(dayStartMs(ms(within), zone)), start, zone);
    assert.equal(iso(dayStartMs(ms(within), zone, 1)), next, zone);
    assert.equal(dayStartMs(ms(start), zone), ms(start), zone);
  }
});

test('a calendar day starts at its midnight in the zone', () => {
  assert.equal(
    iso(calendarDayStartMs(ms('2026-06-01T00:00'), 'Asia/Kathmandu')),
    '2026-05-31T18:15',
  );
  assert.equal(
    iso(calendarDayStartMs(ms('2026-03-29T00:00'), 'Europe/Berlin', 1)),
    '2026-03-29T22:00',
  );
  assert.equal(iso(calendarDayStartMs(ms('2026-03-29T00:00'), 'UTC', 1)), '2026-03-30T00:00');
});

test('an hour starts at a full local hour or at a clock change', () => {
  const hours: [zone: string, within: string, start: string][] = [
    ['UTC', '2026-06-01T10:59', '2026-06-01T10:00'],
    ['Europe/Berlin', '2026-10-25T00:30', '2026-10-25T00:00'],
    ['Europe/Berlin', '2026-10-25T01:30', '2026-10-25T01:00'],
    ['Asia/Kolkata', '2026-06-01T10:29', '2026-06-01T09:30'],
    ['Asia/Kathmandu', '2026-06-01T10:15', '2026-06-01T10:15'],
    // At 15:00 clocks go back from 2:00 to 1:30.
    ['Australia/Lord_Howe', '2026-04-04T14:59', '2026-04-04T14:00'],
    ['Australia/Lord_Howe', '2026-04-04T15:00', '2026-04-04T15:00'],
    ['Australia/Lord_Howe', '2026-04-04T15:29', '2026-04-04T15:00'],
    ['Australia/Lord_Howe', '2026-04-04T15:30', '2026-04-04T15:30'],
    // At 15:30 clocks go forward from 2:00 to 2:30.
    ['Australia/Lord_Howe', '2026-10-03T15:29', '2026-10-03T14:30'],
    ['Australia/Lord_Howe', '2026-10-03T15:30', '2026-10-03T15:30'],
    ['Australia/Lord_Howe', '2026-10-03T16:00', '2026-10-03T16:00'],
  ];
  for (const [zone, within, start] of hours) {
    assert.equal(iso(hourStartMs(ms(within), zone)), start, `${zone} ${within}`);
  }
});
