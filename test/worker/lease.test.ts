import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { startLease } from '../../src/worker/lease.ts';

const leaseMs = 6_000;
/** A beat each third of a lease, and beside that a retry each twentieth. */
const beatsMax = 3 + 20;

test('beats that fail stay as few however long it lasts, and the first that gets through keeps the lease', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const told: string[] = [];
  let beats = 0;
  let refuses = false;
  const lease = startLease({
    pipelines: {
      async use<T>() {
        beats++;
        if (refuses) throw new Error('refused');
        return [] as T;
      },
      dropIdle() {},
      async close() {},
    },
    leaseMs,
    onExecutionCanceled: () => {},
    onSilence: () => told.push('silence'),
    onContact: () => told.push('contact'),
    onError: () => {},
    onAgain: () => told.push('again'),
  });
  t.after(lease.stop);
  await lease.beat();
  const mine = lease.current();
  assert.ok(mine);

  refuses = true;
  for (let leases = 0; leases < 10; leases++) {
    beats = 0;
    for (let passed = 0; passed < leaseMs; passed += leaseMs / 60) {
      t.mock.timers.tick(leaseMs / 60);
      await turn();
    }
    assert.ok(beats > 3 && beats <= beatsMax, `${beats} beats in lease ${leases}`);
  }

  refuses = false;
  await lease.beat();
  assert.equal(lease.current(), mine);
  assert.ok(lease.holds(mine));
  await lease.beat();
  assert.equal(told.filter((one) => one === 'again').length, 1);

  refuses = true;
  await lease.beat();
  lease.stop();
  beats = 0;
  t.mock.timers.tick(leaseMs);
  assert.equal(beats, 0, 'nothing goes on once it is stopped');
});
