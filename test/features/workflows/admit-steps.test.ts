import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DueStep } from '../../../src/engine/advance/workflow-steps.ts';
import {
  createStepAdmission,
  type StepAdmissionDeps,
} from '../../../src/features/workflows/verbs/admit-steps.ts';

const step = (item: number, variables = '{}'): DueStep => ({
  runId: 'run',
  step: 'a',
  item,
  fallback: false,
  variables,
  agentId: 'agent',
  workspaceId: 'workspace',
  workflowId: 'workflow',
  apiKeyId: null,
  executedBy: null,
  labels: null,
  maxCostUsd: null,
});

/** Calls that resolve one by one, or all from now on. */
function createAdmission() {
  const all = Promise.withResolvers<void>();
  const calls: { readonly item: number; readonly resolve: () => void }[] = [];
  const admit: StepAdmissionDeps['admission']['admit'] = async ({ credential }) => {
    if (credential.kind !== 'workflow') throw new Error('not a call of a step');
    const one = Promise.withResolvers<void>();
    calls.push({ item: credential.step.item, resolve: one.resolve });
    await Promise.race([all.promise, one.promise]);
    throw new Error('the database is unavailable');
  };
  const errors: unknown[] = [];
  const over: DueStep[] = [];
  const deps = {
    admission: { admit },
    releaseSteps: async (steps: readonly DueStep[]) => void over.push(...steps),
    onError: (error: unknown) => void errors.push(error),
    // Reservations do not expire, however slow the machine is.
    nowMs: () => 0,
  };
  const released = () => over.map(({ item }) => item);
  const called = () => calls.map(({ item }) => item);
  const created = createStepAdmission(deps as unknown as StepAdmissionDeps);
  return { ...created, resolve: all.resolve, calls, called, released, errors };
}

const many = (count: number) => Array.from({ length: count }, (_, item) => step(item));

test('admission gets a few hundred calls, half of the room stays free for others, and the rest is released', async () => {
  const { admit, room, idle, resolve, called, errors, released } = createAdmission();
  admit(many(12_000));
  assert.equal(called().length, 400);
  assert.deepEqual([room('workspace').steps, room('other').steps], [0, 5_000]);
  resolve();
  await idle();
  assert.equal(errors.length, 10_000);
  assert.deepEqual(
    released(),
    Array.from({ length: 2_000 }, (_, at) => 10_000 + at),
  );
  assert.deepEqual(room('workspace'), { steps: 10_000, chars: 16_777_216 });
  admit([step(12_001)]);
  assert.equal(called().at(-1), 12_001);
});

test('a step does not wait behind the steps of another workspace', async () => {
  const { admit, idle, resolve, calls, called } = createAdmission();
  admit(many(6_000));
  admit([{ ...step(9_999), runId: 'other', workspaceId: 'other' }]);
  // Calls of one workflow run complete together.
  for (const one of [...calls]) one.resolve();
  while (called().length === 400) await new Promise(setImmediate);
  assert.ok(called().slice(400, 800).includes(9_999));
  resolve();
  await idle();
});

test('a step in progress is skipped, and its fallback is not', async () => {
  const { admit, idle, resolve, called } = createAdmission();
  admit(many(500));
  admit(many(500));
  admit([{ ...step(3), fallback: true }]);
  resolve();
  await idle();
  assert.equal(called().length, 501);
  assert.equal(called().filter((item) => item === 3).length, 2);
  admit([step(3)]);
  assert.equal(called().length, 502, 'but once more where it still is to be called');
});

test('fewer steps are admitted if their variables are long', () => {
  const { admit, room, called } = createAdmission();
  const long = JSON.stringify({ text: 'x'.repeat(4_000_000) });
  admit(Array.from({ length: 12 }, (_, item) => step(item, long)));
  assert.deepEqual([called().length, room('workspace').chars], [5, 0]);
});
