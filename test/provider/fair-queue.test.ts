import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Line } from '../../src/provider/fair-queue.ts';

const forever = 2 ** 30;

test('what is given goes from workspace to workspace, and within one in order', async () => {
  const line = new Line<number>();
  const got: string[] = [];
  const { signal } = new AbortController();
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map(async (name) => {
    got.push(`${await line.stand(name.slice(0, 1), forever, signal)}: ${name}`);
  });
  for (let n = 1; !line.empty; n++) line.next(n);
  await Promise.all(all);
  assert.deepEqual(got, ['1: a1', '2: b1', '3: c1', '4: a2', '5: b2', '6: a3']);
  line.next(7);
});

test('who comes back has its turn before those who had theirs since', async () => {
  const line = new Line<number>();
  const { signal } = new AbortController();
  const [stayed, first] = ['a', 'a'].map((whose) => line.stand(whose, forever, signal));
  const left = new AbortController();
  const gone = line.stand('b', forever, left.signal);
  line.next(1);
  assert.equal(await stayed, 1);
  left.abort();
  assert.equal(await gone, null);
  const back = line.stand('b', forever, signal);
  line.next(2);
  assert.equal(await back, 2);
  line.next(3);
  assert.equal(await first, 3);
});

test('who gives up, or waited long enough, is given nothing and takes no turn', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const line = new Line<number>();
  const controller = new AbortController();
  const { signal } = new AbortController();
  const gone = line.stand('a', forever, controller.signal);
  const late = line.stand('b', 1_000, signal);
  const patient = line.stand('c', 2_000, signal);
  controller.abort();
  assert.equal(await gone, null);
  t.mock.timers.tick(1_000);
  assert.equal(await late, null);
  line.next(1);
  assert.equal(await patient, 1);
  assert.ok(line.empty);
  assert.equal(await line.stand('a', forever, controller.signal), null);
  assert.ok(line.empty);
});
