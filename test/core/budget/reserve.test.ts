import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testBudget } from '../../../harness/budgets.ts';
import { announce } from '../../../src/core/budget/announce.ts';
import type { Budget } from '../../../src/core/budget/budget.ts';
import {
  type BudgetWindow,
  budgetRefusal,
  reserve,
  reserveInstead,
  unitsOf,
  usdOf,
} from '../../../src/core/budget/reserve.ts';

const nowMs = Date.parse('2026-11-29T10:20:30Z');
const endMs = Date.parse('2026-12-01T00:00:00Z');

interface Amounts {
  readonly limit?: string;
  readonly settled?: string;
  readonly reserved?: string;
}

function window(
  { limit = '0.01', settled = '0', reserved = '0' }: Amounts = {},
  budget: Partial<Budget> = {},
): BudgetWindow {
  const own = testBudget({ limitUsd: limit, ...budget });
  return {
    ...{ budget: own, budgetId: own.id, bucket: '', window: '2026-11-01T00:00:00.000Z' },
    endMs: own.period === 'total' ? null : endMs,
    ...{ reserved: unitsOf(reserved), settled: unitsOf(settled) },
    ...{ calls: 0, unknownCalls: 0, announced: [] },
  };
}

function refusalOf(windows: readonly BudgetWindow[], needed: string, showsMoney = true) {
  const decision = reserve(windows, needed);
  assert.equal(decision.kind, 'exceeded');
  if (decision.kind !== 'exceeded') throw new Error();
  const refusal = budgetRefusal(decision, { nowMs, showsMoney });
  return { ...refusal, limitedBy: refusal.fields.limitedBy as Record<string, unknown> };
}

test('a budget of 0.01 has room for exactly ten calls of 0.001', () => {
  const own = window();
  for (let call = 0; call < 10; call++) assert.equal(reserve([own], '0.001').kind, 'reserved');
  assert.equal(usdOf(own.reserved), '0.01');
  assert.equal(reserve([own], '0.0000000001').kind, 'exceeded');
  assert.equal(usdOf(own.reserved), '0.01');
});

test('a call reserves in all windows or in none', () => {
  const [wide, narrow] = [window({ limit: '1' }), window({ limit: '0.0005' })];
  assert.equal(reserve([wide, narrow], '0.001').kind, 'exceeded');
  assert.deepEqual([wide.reserved, narrow.reserved], [0n, 0n]);
  const decision = reserve([wide, narrow], '0.0005');
  assert.equal(decision.kind, 'reserved');
  assert.deepEqual([usdOf(wide.reserved), usdOf(narrow.reserved)], ['0.0005', '0.0005']);
});

test('a call that was not sent reserves a higher bound in place of what it has, only in the same window', () => {
  const own = window({ settled: '0.004', reserved: '0.005' });
  const { budgetId, bucket, window: start } = own;
  const before = { budgetId, bucket, window: start, usd: '0.002' };
  assert.equal(reserveInstead([own], '0.003', [before]).kind, 'reserved');
  assert.equal(usdOf(own.reserved), '0.006');
  const again = { ...before, usd: '0.003' };
  const refused = reserveInstead([own], '0.0030000001', [again]);
  assert.equal(refused.kind, 'exceeded');
  if (refused.kind === 'exceeded') {
    assert.match(
      budgetRefusal(refused, { nowMs, showsMoney: true }).message,
      /0\.003 of 0\.01 left/,
    );
  }
  assert.equal(usdOf(own.reserved), '0.006');
  const earlier = { ...again, window: '2026-10-01T00:00:00.000Z' };
  assert.equal(reserveInstead([own], '0.003', [earlier]).kind, 'exceeded');
});

test('a window is spent if the call would not fit without reservations either, else reserved', () => {
  const spent = refusalOf([window({ settled: '0.0095', reserved: '0.0001' })], '0.001');
  assert.equal(spent.limitedBy.reason, 'spent');
  assert.equal(spent.fields.retryAfter, (endMs - nowMs) / 1_000);
  assert.deepEqual([spent.isSpent, spent.isFinal], [true, false]);
  const reserved = refusalOf([window({ settled: '0.008', reserved: '0.0015' })], '0.001');
  assert.equal(reserved.limitedBy.reason, 'reserved');
  assert.equal(reserved.fields.retryAfter, 1);
  assert.deepEqual([reserved.isSpent, reserved.isFinal], [false, false]);
  const full = refusalOf([window({ reserved: '0.01' })], '0.001');
  assert.equal(full.fields.retryAfter, 5);
});

test('a call that may cost more than the whole limit is told so, and not that it is spent', () => {
  const [small, spent] = ['0.0100000001', '0.01'].map((needed) => {
    const { message, limitedBy } = refusalOf([window({ settled: '0.001' })], needed);
    assert.equal(limitedBy.reason, 'spent');
    return message;
  });
  assert.equal(
    small,
    'The budget "Test" is smaller than what this call may cost: 0.0100000001 USD needed, 0.009 of 0.01 left.',
  );
  assert.match(spent ?? '', /The budget "Test" is spent: 0\.01 USD needed/);
  const tiny = refusalOf([window({}, { limitUsd: '0.0000000001' })], '0.01');
  assert.match(tiny.message, /0\.01 USD needed, 0\.0000000001 of 0\.0000000001 left/);
});

test('a refusal names the window that makes the call wait longest', () => {
  const reserved = window({ reserved: '0.01' });
  const spent = window({ settled: '0.01' }, { name: 'Spent' });
  assert.equal(refusalOf([reserved, spent], '0.001').limitedBy.name, 'Spent');
  const total = window({ settled: '0.01' }, { name: 'Total', period: 'total' });
  const final = refusalOf([spent, total], '0.001');
  assert.equal(final.limitedBy.name, 'Total');
  assert.equal(final.limitedBy.resetAt, null);
  assert.deepEqual([final.isFinal, 'retryAfter' in final.fields], [true, false]);
});

test('a reserved total budget is waited for', () => {
  const own = window({ reserved: '0.01' }, { period: 'total' });
  const refusal = refusalOf([own], '0.001');
  assert.deepEqual([refusal.isFinal, refusal.fields.retryAfter], [false, 5]);
});

test('amounts are shown only to those who may see costs', () => {
  const own = window({ settled: '0.0095', reserved: '0.0004' });
  const shown = refusalOf([own], '0.001');
  const { limitUSD, settledUSD, reservedUSD, neededUSD } = shown.limitedBy;
  assert.deepEqual(
    { limitUSD, settledUSD, reservedUSD, neededUSD },
    { limitUSD: 0.01, settledUSD: 0.0095, reservedUSD: 0.0004, neededUSD: 0.001 },
  );
  assert.match(shown.message, /0\.001 USD needed, 0\.0001 of 0\.01 left/);
  const hidden = refusalOf([own], '0.001', false);
  assert.doesNotMatch(JSON.stringify(hidden.fields) + hidden.message, /USD|0\.01/);
});

test('a call without a bound is refused, or counts nothing where the budget says so', () => {
  assert.equal(reserve([window()], null).kind, 'unbounded');
  const lenient = window({ settled: '0.01' }, { onUnknown: 'count_zero' });
  assert.equal(reserve([lenient], null).kind, 'reserved');
  assert.equal(reserve([lenient, window()], null).kind, 'unbounded');
  assert.equal(lenient.reserved, 0n);
});

const quiet = { isRefused: false, overruns: [] };
const typesOf = (events: readonly { readonly type: string; readonly data: string }[]) =>
  events.map(({ type, data }) => `${type} ${JSON.parse(data).percent ?? ''}`.trim());

test('each threshold is announced once for a window, when what is settled reaches it', () => {
  const own = window({ settled: '0.004', reserved: '0.006' });
  assert.deepEqual(announce(own, quiet, nowMs), []);
  own.settled = unitsOf('0.008');
  assert.deepEqual(typesOf(announce(own, quiet, nowMs)), [
    'budget.threshold 50',
    'budget.threshold 80',
  ]);
  own.settled = unitsOf('0.01');
  assert.deepEqual(typesOf(announce(own, quiet, nowMs)), ['budget.threshold 100']);
  assert.deepEqual(announce(own, quiet, nowMs), []);
});

test('the first refusal of a window is announced once, each overrun always', () => {
  const own = window();
  const refused = { ...quiet, isRefused: true };
  assert.deepEqual(typesOf(announce(own, refused, nowMs)), ['budget.exhausted']);
  assert.deepEqual(announce(own, refused, nowMs), []);
  const executionId = '0190b8f0-0000-7000-8000-000000000001';
  const overruns = [{ executionId, beyond: unitsOf('0.0002') }];
  const [first] = announce(own, { ...quiet, overruns }, nowMs);
  assert.equal(JSON.parse(first?.data ?? '{}').overrunUSD, 0.0002);
  assert.deepEqual(typesOf(announce(own, { ...quiet, overruns }, nowMs)), ['budget.overrun']);
});

test('a budget has 1,000 events an hour, then one that says how many more there were', () => {
  const own = window();
  const executionId = '0190b8f0-0000-7000-8000-000000000001';
  const overruns = Array.from({ length: 1_003 }, () => ({ executionId, beyond: unitsOf('0.1') }));
  assert.equal(announce(own, { ...quiet, overruns }, nowMs).length, 1_000);
  assert.deepEqual(announce(own, { ...quiet, overruns: overruns.slice(0, 2) }, nowMs), []);
  const later = announce(own, { ...quiet, overruns: overruns.slice(0, 1) }, nowMs + 3_600_000);
  assert.deepEqual(
    later.map(({ data }) => JSON.parse(data).withheld),
    [5, undefined],
  );
});
