import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testBudget } from '../../../harness/budgets.ts';
import { reserve, usdOf } from '../../../src/core/budget/reserve.ts';
import type { Send } from '../../../src/db/pipeline.ts';
import { BudgetWindows } from '../../../src/engine/budgets/budget-windows.ts';

test('keys of one call that share the window of a full budget reserve in it once', async () => {
  const budget = testBudget({ per: 'key', isFull: true, limitUsd: '1' });
  const { workspaceId } = budget;
  const windows = new BudgetWindows(new Map([[workspaceId, [budget]]]), 0);
  const call = { agentId: 'a', keys: ['own', 'issuer'], user: null, tags: [], run: null };
  windows.need(workspaceId, call);
  const nothing: unknown[] = [];
  await windows.read((async () => nothing) as unknown as Send);
  const found = windows.windowsOf(workspaceId, call);
  assert.deepEqual(
    found.map(({ bucket }) => bucket),
    ['other'],
  );
  reserve(found, '0.6');
  assert.equal(usdOf(found[0]?.reserved ?? 0n), '0.6');
});
