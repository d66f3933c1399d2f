import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextTimes } from '../../dashboard/data/workflows/next-times.ts';
import { describeRepeat, readRepeat, writeRepeat } from '../../dashboard/data/workflows/repeat.ts';
import { nextTicks, scheduleProblem } from '../../src/features/workflows/rules/schedule.ts';

test('each choice is an expression, and the expression is read as the choice', () => {
  const choices = {
    '* * * * *': 'Every minute',
    '*/15 * * * *': 'Every 15 minutes',
    '0 * * * *': 'Hourly, on the hour',
    '5 * * * *': 'Hourly, at minute 5',
    '30 14 * * *': 'Daily at 2:30 PM',
    '0 9 * * 1-5': 'On weekdays at 9:00 AM',
    '0 9 * * 1,3,0': 'Weekly on Monday, Wednesday, and Sunday at 9:00 AM',
    '0 0 31 * *': 'Monthly on day 31 at 12:00 AM',
    '0 6 L * *': 'Monthly on the last day at 6:00 AM',
  };
  for (const [cron, words] of Object.entries(choices)) {
    const repeat = readRepeat(cron);
    assert.equal(writeRepeat(repeat), cron);
    // Other versions of Node put a narrow space before AM.
    assert.equal(describeRepeat(repeat).replaceAll('\u202f', ' '), words);
    assert.equal(scheduleProblem({ cron, timeZone: 'Europe/Berlin' }), null);
  }
});

test('equivalent expressions are the same choice, others stay as written', () => {
  const same = {
    '@daily': '0 0 * * *',
    '@Hourly': '0 * * * *',
    '@weekly': '0 0 * * 0',
    '@monthly': '0 0 1 * *',
    ' 00  02 * * MON-FRI ': '0 2 * * 1-5',
    '0 2 * * mon,7': '0 2 * * 1,0',
    '0 2 01 * *': '0 2 1 * *',
    '*/1 * * * *': '* * * * *',
  };
  for (const [cron, written] of Object.entries(same)) {
    assert.equal(writeRepeat(readRepeat(cron)), written);
  }
  const others = [
    ...['', 'now and then', '@yearly', '*/7 * * * *', '*/15 8-18 * * *', '0 2 1 * 1', '0 2 * 5 *'],
    ...['61 * * * *', '0 24 * * *', '0 2 0 * *', '0 2 32 * *', '0 2 * * 8', '0 2 * * 1#2'],
    ...['0 0 2 * * *', '0 2 15W * *'],
  ];
  for (const cron of others) {
    assert.equal(readRepeat(cron).kind, 'cron', cron);
    assert.equal(writeRepeat(readRepeat(cron)), cron);
  }
});

test('the times before saving are those of the server', () => {
  const expressions = [
    ...['*/15 * * * *', '30 2 * * *', '0 9 * * 1-5', '0 6 L * *', '0 0 31 2 *', '@weekly'],
    ...['15,45 1-3 * * *', '*/30 2 * * *', '0 9 * * 1#2'],
  ];
  // Around both clock changes.
  const moments = ['2026-03-28T12:00:00Z', '2026-10-24T12:00:00Z'].map(Date.parse);
  for (const timeZone of ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe']) {
    for (const cron of expressions) {
      for (const afterMs of moments) {
        const ticks = nextTicks({ cron, timeZone }, afterMs, 5);
        assert.deepEqual(
          nextTimes({ cron, timeZone }, afterMs, 5),
          ticks.map((ms) => new Date(ms).toISOString()),
          `${cron} ${timeZone}`,
        );
      }
    }
  }
  for (const cron of ['', 'now and then', '61 * * * *', '0 0 2 * * *', '2030-01-01T00:00:00']) {
    assert.equal(nextTimes({ cron, timeZone: 'UTC' }, 0, 5), null, cron);
  }
  for (const timeZone of ['', 'Mars/Olympus', '+02:00']) {
    assert.equal(nextTimes({ cron: '0 2 * * *', timeZone }, 0, 5), null, timeZone);
  }
});
