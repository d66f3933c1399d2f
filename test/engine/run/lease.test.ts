import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { startLease } from '../../../src/engine/run/lease.ts';

const leaseMs = 6_000;
/** A beat every third of a lease, and a retry every twentieth. */
const beatsMax = 3 + 20;

test('failing heartbeats do not multiply, and the first one that succeeds keeps the lease', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const events: string[] = [];
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
    onSilence: () => events.push('silence'),
    onContact: () => events.push('contact'),
    onError: () => {},
    onRecovery: () => events.push('recovery'),
  });
  t.after(lease.stop);
  await lease.beat();
  const own = lease.current();
  assert.ok(own);

  refuses = true;
  for (let leases = 0; leases < 10; leases++) {
    beats = 0;
    for (let passed = 0; passed < leaseMs; passed += leaseMs / 60) {
      t.mock.timers.tick(leaseMs / 60);
      await nextTurn();
    }
    assert.ok(beats > 3 && beats <= beatsMax, `${beats} beats in lease ${leases}`);
  }

  refuses = false;
  await lease.beat();
  assert.equal(lease.current(), own);
  assert.ok(lease.isCurrentClaim(own));
  await lease.beat();
  assert.equal(events.filter((event) => event === 'recovery').length, 1);

  refuses = true;
  await lease.beat();
  lease.stop();
  beats = 0;
  t.mock.timers.tick(leaseMs);
  assert.equal(beats, 0, 'a stopped lease sends no heartbeat');
});
