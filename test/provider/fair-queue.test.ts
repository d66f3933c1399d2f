import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairQueue } from '../../src/provider/fair-queue.ts';

const forever = 2 ** 30;

test('what is given goes from workspace to workspace, and within one in order', async () => {
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

test('who comes back has its turn before those who had theirs since', async () => {
  const queue = new FairQueue<number>();
  const { signal } = new AbortController();
  const [stayed, first] = ['a', 'a'].map((whose) => queue.acquire(whose, forever, signal));
  const left = new AbortController();
  const gone = queue.acquire('b', forever, left.signal);
  queue.release(1);
  assert.equal(await stayed, 1);
  left.abort();
  assert.equal(await gone, null);
  const back = queue.acquire('b', forever, signal);
  queue.release(2);
  assert.equal(await back, 2);
  queue.release(3);
  assert.equal(await first, 3);
});

test('who gives up, or waited long enough, is given nothing and takes no turn', async (t) => {
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
