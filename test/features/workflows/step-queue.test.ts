import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DueStep } from '../../../src/engine/advance/workflow-steps.ts';
import { stepQueue } from '../../../src/features/workflows/verbs/step-queue.ts';

const step = (workspaceId: string, item: number): DueStep => ({
  runId: workspaceId,
  step: 'a',
  item,
  fallback: false,
  variables: '{}',
  agentId: 'agent',
  workspaceId,
  workflowId: 'workflow',
  apiKeyId: null,
  executedBy: null,
  labels: null,
  maxCostUsd: null,
});
const named = (steps: readonly DueStep[]) => steps.map((one) => `${one.workspaceId}${one.item}`);

test('workspaces take turns', () => {
  const queue = stepQueue();
  for (const item of [0, 1, 2, 3]) queue.add(step('a', item));
  queue.add(step('b', 0));
  assert.deepEqual(named(queue.next(1)), ['a0']);
  queue.add(step('c', 0));
  queue.add(step('c', 1));
  assert.deepEqual(named(queue.next(5)), ['b0', 'a1', 'c0', 'a2', 'c1']);
  assert.deepEqual(named(queue.next(5)), ['a3']);
  assert.deepEqual(queue.next(5), []);
});

test('a step with an expired reservation is dropped, and one that was taken again is not', () => {
  let nowMs = 0;
  const queue = stepQueue(() => nowMs);
  for (const item of [0, 1, 2]) queue.add(step('a', item));
  nowMs = 4_000;
  queue.add(step('a', 1));
  nowMs = 6_000;
  assert.deepEqual(named(queue.next(5)), ['a1']);
  assert.equal(queue.room('b').steps, 10_000, 'one is held');
  queue.done([step('a', 1), step('a', 2)]);
  queue.add(step('a', 0));
  assert.deepEqual(named(queue.next(5)), ['a0']);
});
