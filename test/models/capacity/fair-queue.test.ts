import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairQueue } from '../../../src/models/capacity/fair-queue.ts';

const forever = 2 ** 30;

test('workspaces alternate, and each one is served in order', async () => {
  const queue = new FairQueue<number>();
  const got: string[] = [];
  const { signal } = new AbortController();
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map(async (name) => {
    got.push(`${await queue.acquire(name.slice(0, 1), forever, signal)}: ${name}`);
  });
  for (let n = 1; !queue.empty; n++) queue.release(n);
  await Promise.all(all);
  assert.deepEqual(got, ['1: a1', '2: b1', '3: c1', '4: a2', '5: b2', '6: a3']);
  queue.release(7);
});

test('a workspace that returns precedes those served since', async () => {
  const queue = new FairQueue<number>();
  const { signal } = new AbortController();
  const [stayed, first] = ['a', 'a'].map((workspace) => queue.acquire(workspace, forever, signal));
  const remaining = new AbortController();
  const gone = queue.acquire('b', forever, remaining.signal);
  queue.release(1);
  assert.equal(await stayed, 1);
  remaining.abort();
  assert.equal(await gone, null);
  const back = queue.acquire('b', forever, signal);
  queue.release(2);
  assert.equal(await back, 2);
  queue.release(3);
  assert.equal(await first, 3);
});

test('an aborted or timed-out waiter gets nothing and leaves the turn of its workspace unused', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const queue = new FairQueue<number>();
  const controller = new AbortController();
  const { signal } = new AbortController();
  const gone = queue.acquire('a', forever, controller.signal);
  const late = queue.acquire('b', 1_000, signal);
  const patient = queue.acquire('c', 2_000, signal);
  controller.abort();
  assert.equal(await gone, null);
  t.mock.timers.tick(1_000);
  assert.equal(await late, null);
  queue.release(1);
  assert.equal(await patient, 1);
  assert.ok(queue.empty);
  assert.equal(await queue.acquire('a', forever, controller.signal), null);
  assert.ok(queue.empty);
});
