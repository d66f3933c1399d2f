import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  dueTick,
  nextTicks,
  scheduleProblem,
} from '../../../src/features/workflows/rules/schedule.ts';

const at = (text: string) => Date.parse(text);
const texts = (ticks: readonly number[]) => ticks.map((ms) => new Date(ms).toISOString());

test('ticks follow local time, including clock changes', () => {
  const nightly = { cron: '0 2 * * *', timeZone: 'Europe/Berlin' };
  assert.deepEqual(texts(nextTicks(nightly, at('2026-01-01T00:00:00Z'), 2)), [
    '2026-01-01T01:00:00.000Z',
    '2026-01-02T01:00:00.000Z',
  ]);
  // On 29 March 2:00 does not exist; the tick moves to the first moment after the gap.
  assert.deepEqual(texts(nextTicks(nightly, at('2026-03-28T02:00:00Z'), 2)), [
    '2026-03-29T01:00:00.000Z',
    '2026-03-30T00:00:00.000Z',
  ]);
  // On 25 October 2:30 occurs twice; only the first one ticks.
  const twice = { cron: '30 2 * * *', timeZone: 'Europe/Berlin' };
  assert.deepEqual(texts(nextTicks(twice, at('2026-10-24T12:00:00Z'), 2)), [
    '2026-10-25T00:30:00.000Z',
    '2026-10-26T01:30:00.000Z',
  ]);
});

test('at a clock change, lists and ranges tick once per listed time, wildcards and steps whenever they match', () => {
  const ticksOf = (cron: string, day: string) => {
    const ticks = nextTicks({ cron, timeZone: 'Europe/Berlin' }, at(`${day}T00:00:00Z`), 8);
    const noon = `${day}T12`;
    return texts(ticks).flatMap((text) => (text < noon ? text.slice(11, 16) : []));
  };
  const [forward, back] = ['2026-03-29', '2026-10-25'];
  assert.deepEqual(ticksOf('15,45 2 * * *', forward), ['01:00']);
  assert.deepEqual(ticksOf('15,45 2 * * *', back), ['00:15', '00:45']);
  assert.deepEqual(ticksOf('30 1-3 * * *', forward), ['00:30', '01:00', '01:30']);
  assert.deepEqual(ticksOf('30 2-3 * * *', back), ['00:30', '02:30']);
  assert.deepEqual(ticksOf('*/30 2 * * *', forward), []);
  assert.deepEqual(ticksOf('*/30 2 * * *', back), ['00:30', '01:00', '01:30']);
});

test('the next tick is strictly later, and some schedules never tick', () => {
  const hourly = { cron: '0 * * * *', timeZone: 'UTC' };
  assert.deepEqual(texts(nextTicks(hourly, at('2026-01-01T05:00:00Z'), 1)), [
    '2026-01-01T06:00:00.000Z',
  ]);
  assert.deepEqual(nextTicks({ cron: '0 0 31 2 *', timeZone: 'UTC' }, 0, 5), []);
});

test('nicknames mean the start of an hour, day, week, month or year', () => {
  const first = Object.entries({
    '@hourly': '2026-11-21T10:00:00.000Z',
    '@daily': '2026-11-21T23:00:00.000Z',
    '@midnight': '2026-11-21T23:00:00.000Z',
    '@weekly': '2026-11-21T23:00:00.000Z',
    '@monthly': '2026-11-30T23:00:00.000Z',
    '@yearly': '2026-12-31T23:00:00.000Z',
    '@annually': '2026-12-31T23:00:00.000Z',
  });
  for (const [cron, tick] of first) {
    const times = { cron, timeZone: 'Europe/Berlin' };
    assert.equal(scheduleProblem(times), null);
    assert.deepEqual(texts(nextTicks(times, at('2026-11-21T09:30:00Z'), 1)), [tick], cron);
  }
  assert.match(scheduleProblem({ cron: '@reboot', timeZone: 'UTC' }) ?? '', /no cron expression/);
});

test('invalid schedules are reported', () => {
  assert.equal(scheduleProblem({ cron: '*/5 * * * MON-FRI', timeZone: 'America/New_York' }), null);
  for (const cron of ['', 'x', '* * * *', '* * * * * *', '61 * * * *', '0 0 * * 9']) {
    const problem = scheduleProblem({ cron, timeZone: 'UTC' }) ?? '';
    assert.match(problem, /no cron expression of five fields: minute, hour, day/, cron);
    assert.doesNotMatch(problem, /CronPattern/);
  }
  for (const cron of ['2030-01-01T00:00:00', '2030-01-01 00:00:00', '2030-01-01T00:00:00Z']) {
    assert.match(scheduleProblem({ cron, timeZone: 'UTC' }) ?? '', /a moment/, cron);
  }
  for (const timeZone of ['', 'Mars/Olympus', '+02:00']) {
    assert.match(scheduleProblem({ cron: '0 2 * * *', timeZone }) ?? '', /no time zone/, timeZone);
  }
});

test('a missed tick is skipped or fires once; the next tick is in the future', () => {
  const [tickMs, nextMs] = [at('2026-01-01T05:00:00Z'), at('2026-01-01T06:00:00Z')];
  const due = (missed: 'skip' | 'once', lateMs: number) =>
    dueTick({ cron: '0 * * * *', timeZone: 'UTC', missed }, tickMs, tickMs + lateMs);
  assert.deepEqual(due('skip', 59_999), { firesMs: tickMs, nextMs });
  assert.deepEqual(due('skip', 60_000), { firesMs: null, nextMs });
  assert.deepEqual(due('once', 0), { firesMs: tickMs, nextMs });
  const daysLater = { firesMs: tickMs, nextMs: at('2026-01-03T06:00:00Z') };
  assert.deepEqual(due('once', 2 * 86_400_000 + 5), daysLater);
});

test('a tick in time fires even if the previous one was missed', () => {
  const minutely = { cron: '* * * * *', timeZone: 'UTC', missed: 'skip' } as const;
  const tickMs = at('2026-01-01T05:00:00Z');
  assert.deepEqual(dueTick(minutely, tickMs, tickMs + 61_000), {
    firesMs: at('2026-01-01T05:01:00Z'),
    nextMs: at('2026-01-01T05:02:00Z'),
  });
});
