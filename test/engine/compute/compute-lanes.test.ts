import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createComputeLanes } from '../../../src/engine/compute/compute-lanes.ts';
import { doubleJob, waitJob } from './jobs.ts';

test('a job with a long input delays no other', async () => {
  const lanes = createComputeLanes();
  after(lanes.close);
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const long = lanes.run('a', waitJob, flag, 2_000_000);
  assert.equal(await lanes.run('a', doubleJob, 2, 1_000), 4);
  assert.equal(await lanes.run('a', doubleJob, 3), 6);
  Atomics.store(flag, 0, 1);
  Atomics.notify(flag, 0);
  assert.equal(await long, 'waited');
});
