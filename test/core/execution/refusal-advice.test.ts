import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testBudget } from '../../../harness/budgets.ts';
import { type BudgetPeriod, budgetPeriod } from '../../../src/core/budget/budget.ts';
import { budgetRefusal } from '../../../src/core/budget/reserve.ts';
import { refusalAdvice } from '../../../src/core/execution/refusal-advice.ts';

const nowMs = Date.parse('2026-11-29T12:00:00.000Z');
const dollar = 10n ** 24n;

/** What a model is told about a budget of one dollar. */
function advice(period: BudgetPeriod, amounts: { settled: bigint; reserved: bigint }): string {
  const budget = testBudget({ period });
  const { startMs, endMs } = budgetPeriod(budget, nowMs);
  const window = new Date(startMs).toISOString();
  const key = { budgetId: budget.id, bucket: '', window, budget, endMs };
  const counts = { calls: 0, unknownCalls: 0, announced: [] };
  const exceeded = { window: { ...key, ...amounts, ...counts }, neededUsd: '0.5' };
  const { code, message, fields } = budgetRefusal(
    { kind: 'exceeded', ...exceeded },
    { nowMs, showsMoney: true },
  );
  assert.equal(code, 'BUDGET_EXCEEDED');
  return refusalAdvice({ code: 'BUDGET_EXCEEDED', message, fields }, nowMs);
}

test('a model waits for a budget as long as the refusal says', () => {
  const spent = { settled: dollar, reserved: 0n };
  const reserved = { settled: 0n, reserved: dollar };
  assert.match(
    advice('day', spent),
    /Try again at 2026-11-30T00:00:00.000Z, in 43200 seconds; not earlier\.$/,
  );
  for (const period of ['day', 'total'] as const) {
    assert.match(
      advice(period, reserved),
      /Try again at 2026-11-29T12:00:05.000Z, in 5 seconds; not earlier\.$/,
    );
  }
  assert.match(
    advice('total', spent),
    /Calling the tool again does not help: a person must change this first\.$/,
  );
});
