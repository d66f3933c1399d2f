import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStepTaker, type TakerParts } from '../../src/flow/take-steps.ts';
import type { DueStep } from '../../src/store/workflow-steps.ts';

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
});

/** Calls that are answered once they are let. */
function taker() {
  const { promise, resolve: answer } = Promise.withResolvers<void>();
  const called: number[] = [];
  const admit: TakerParts['admission']['admit'] = async ({ credential }) => {
    if (credential.kind === 'workflow') called.push(credential.step.item);
    await promise;
    throw new Error('the database is away');
  };
  const errors: unknown[] = [];
  const parts = { admission: { admit }, onError: (error: unknown) => void errors.push(error) };
  return { ...createStepTaker(parts as unknown as TakerParts), answer, called, errors };
}

test('no more steps are taken at once than there is room for', async () => {
  const { take, room, idle, answer, called, errors } = taker();
  take(Array.from({ length: 6_000 }, (_, item) => step(item)));
  assert.deepEqual([called.length, room().steps], [5_000, 0]);
  take([step(7_000)]);
  answer();
  await idle();
  assert.equal(errors.length, 5_000);
  assert.deepEqual(room(), { steps: 5_000, chars: 33_554_432 });
  take([step(7_001)]);
  assert.equal(called.at(-1), 7_001);
});

test('of steps with long variables fewer are taken', () => {
  const { take, room, called } = taker();
  const long = JSON.stringify({ text: 'x'.repeat(4_000_000) });
  take(Array.from({ length: 12 }, (_, item) => step(item, long)));
  assert.deepEqual([called.length, room().chars], [9, 0]);
});
