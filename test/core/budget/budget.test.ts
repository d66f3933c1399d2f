import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testBudget } from '../../../harness/budgets.ts';
import {
  type Budget,
  type BudgetedCall,
  budgetPeriod,
  matchWindows,
} from '../../../src/core/budget/budget.ts';

const nowMs = Date.parse('2026-11-29T10:20:30.400Z');
const call: BudgetedCall = {
  agentId: 'a1',
  keys: ['k2', 'k1'],
  user: 'ann',
  tags: ['x', 'y'],
  run: null,
};

const bucketsOf = (budget: Partial<Budget>, of: Partial<BudgetedCall> = {}) =>
  matchWindows([testBudget(budget)], { ...call, ...of }, nowMs).map(({ bucket }) => bucket);

test('periods are those of the calendar in UTC, and weeks begin on Monday', () => {
  const createdMs = Date.parse('2026-11-03T04:05:06Z');
  const shown = (period: Budget['period'], at = nowMs) => {
    const { startMs, endMs } = budgetPeriod({ period, createdMs }, at);
    return [new Date(startMs).toISOString(), endMs && new Date(endMs).toISOString()];
  };
  assert.deepEqual(shown('hour'), ['2026-11-29T10:00:00.000Z', '2026-11-29T11:00:00.000Z']);
  assert.deepEqual(shown('day'), ['2026-11-29T00:00:00.000Z', '2026-11-30T00:00:00.000Z']);
  // A Sunday.
  assert.deepEqual(shown('week'), ['2026-11-23T00:00:00.000Z', '2026-11-30T00:00:00.000Z']);
  const monday = Date.parse('2026-11-30T00:00:00Z');
  assert.deepEqual(shown('week', monday)[0], '2026-11-30T00:00:00.000Z');
  assert.deepEqual(shown('week', monday - 1)[0], '2026-11-23T00:00:00.000Z');
  assert.deepEqual(shown('month'), ['2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z']);
  const newYear = Date.parse('2026-12-31T23:59:59.999Z');
  assert.deepEqual(shown('month', newYear)[1], '2027-01-01T00:00:00.000Z');
  assert.deepEqual(shown('total'), ['2026-11-03T04:05:06.000Z', null]);
});

test('a call falls into the bucket of what the budget is per', () => {
  assert.deepEqual(bucketsOf({ per: 'none' }), ['']);
  assert.deepEqual(bucketsOf({ per: 'agent' }), ['a1']);
  assert.deepEqual(bucketsOf({ per: 'user' }), ['ann']);
  assert.deepEqual(bucketsOf({ per: 'user' }, { user: null }), ['']);
  assert.deepEqual(bucketsOf({ per: 'key' }, { keys: [] }), ['']);
});

test('a key counts with those that issued it, once each', () => {
  assert.deepEqual(bucketsOf({ per: 'key' }), ['k2', 'k1']);
  assert.deepEqual(bucketsOf({ per: 'key' }, { keys: ['k1', 'k1'] }), ['k1']);
  assert.deepEqual(bucketsOf({ keys: ['k1'] }), ['']);
  assert.deepEqual(bucketsOf({ keys: ['k3'] }), []);
  assert.deepEqual(bucketsOf({ keys: ['k1'] }, { keys: [] }), []);
});

test('a scope needs one of each of its lists', () => {
  assert.deepEqual(bucketsOf({ agentIds: ['a1', 'a2'], tags: ['y', 'z'] }), ['']);
  assert.deepEqual(bucketsOf({ agentIds: ['a2'], tags: ['y'] }), []);
  assert.deepEqual(bucketsOf({ agentIds: ['a1'], tags: ['z'] }), []);
  assert.deepEqual(bucketsOf({ tags: ['x'] }, { tags: [] }), []);
});
