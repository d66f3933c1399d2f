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

/** Calls that are answered one by one, or all from now on. */
function taker() {
  const all = Promise.withResolvers<void>();
  const calls: { readonly item: number; readonly answer: () => void }[] = [];
  const admit: TakerParts['admission']['admit'] = async ({ credential }) => {
    if (credential.kind !== 'workflow') throw new Error('a call of nobody');
    const one = Promise.withResolvers<void>();
    calls.push({ item: credential.step.item, answer: one.resolve });
    await Promise.race([all.promise, one.promise]);
    throw new Error('the database is away');
  };
  const errors: unknown[] = [];
  const parts = { admission: { admit }, onError: (error: unknown) => void errors.push(error) };
  const called = () => calls.map(({ item }) => item);
  const created = createStepTaker(parts as unknown as TakerParts);
  return { ...created, answer: all.resolve, calls, called, errors };
}

const many = (count: number) => Array.from({ length: count }, (_, item) => step(item));

test('of many steps some hundreds stand in admission, and half of the room is left to other workspaces', async () => {
  const { take, room, idle, answer, called, errors } = taker();
  take(many(6_000));
  assert.equal(called().length, 400);
  assert.deepEqual([room('workspace').steps, room('other').steps], [0, 1_250]);
  answer();
  await idle();
  assert.equal(errors.length, 2_500, 'the rest stays ready');
  assert.deepEqual(room('workspace'), { steps: 2_500, chars: 16_777_216 });
  take([step(7_001)]);
  assert.equal(called().at(-1), 7_001);
});

test('a step does not wait behind those of another workspace', async () => {
  const { take, idle, answer, calls, called } = taker();
  take(many(6_000));
  take([{ ...step(9_999), runId: 'other', workspaceId: 'other' }]);
  // One run's calls are done together.
  for (const one of [...calls]) one.answer();
  while (called().length === 400) await new Promise(setImmediate);
  assert.ok(called().slice(400, 800).includes(9_999));
  answer();
  await idle();
});

test('a step that is being taken is passed over, and its fallback is not', async () => {
  const { take, idle, answer, called } = taker();
  take(many(500));
  take(many(500));
  take([{ ...step(3), fallback: true }]);
  answer();
  await idle();
  assert.equal(called().length, 501);
  assert.equal(called().filter((item) => item === 3).length, 2);
  take([step(3)]);
  assert.equal(called().length, 502, 'but once more where it still is to be called');
});

test('of steps with long variables fewer are taken', () => {
  const { take, room, called } = taker();
  const long = JSON.stringify({ text: 'x'.repeat(4_000_000) });
  take(Array.from({ length: 12 }, (_, item) => step(item, long)));
  assert.deepEqual([called().length, room('workspace').chars], [5, 0]);
});
