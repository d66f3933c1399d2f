import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { JobTooLarge } from '../../../src/core/compute.ts';
import { createComputeThread } from '../../../src/engine/compute/compute-thread.ts';
import { turns } from '../../../src/engine/compute/turns.ts';
import { doubleJob, fillJob, leaveJob, refuseJob } from './jobs.ts';

const thread = createComputeThread();
after(thread.close);

test('each job gets its own output, and one that fails rejects alone', async () => {
  const outputs = await Promise.allSettled([
    thread.run('a', doubleJob, 1),
    thread.run('a', refuseJob, 'no'),
    thread.run('b', doubleJob, 2),
    thread.run('a', doubleJob, 3),
  ]);
  const shown = outputs.map((one) =>
    one.status === 'fulfilled' ? one.value : (one.reason as Error).message,
  );
  assert.deepEqual(shown, [2, 'no', 4, 6]);
});

test('after the thread has died, another one runs the next job', async () => {
  await assert.rejects(thread.run('a', leaveJob, undefined));
  assert.equal(await thread.run('a', doubleJob, 4), 8);
});

test('the job behind the one that ends the thread runs in another one', async () => {
  const [ended, behind] = await Promise.allSettled([
    thread.run('a', leaveJob, undefined),
    thread.run('b', doubleJob, 5),
  ]);
  assert.equal(ended.status, 'rejected');
  assert.deepEqual(behind, { status: 'fulfilled', value: 10 });
});

test('a job that takes all of the memory is refused, and those of others run', async () => {
  const small = createComputeThread(16);
  const [first, refused, last] = await Promise.allSettled([
    small.run('b', doubleJob, 1),
    small.run('a', fillJob, undefined),
    small.run('b', doubleJob, 2),
  ]);
  assert.ok(refused.status === 'rejected' && refused.reason instanceof JobTooLarge);
  assert.deepEqual(
    [first, last].map((one) => one.status === 'fulfilled' && one.value),
    [2, 4],
  );
  await small.close();
});

test('once it is closed, jobs reject', async () => {
  const closed = createComputeThread();
  await closed.close();
  await assert.rejects(closed.run('a', doubleJob, 1), /has closed its compute thread/);
});

test('owners take turns, however many items one of them has', () => {
  const line = turns<string>();
  for (const item of ['a1', 'a2', 'a3']) line.add('a', item);
  line.add('b', 'b1');
  assert.equal(line.next(), 'a1');
  line.add('c', 'c1');
  const served = Array.from({ length: 5 }, () => line.next());
  assert.deepEqual(served, ['b1', 'a2', 'c1', 'a3', undefined]);
});
