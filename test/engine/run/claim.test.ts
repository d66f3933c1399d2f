import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { silentDb } from '../../../harness/silent-db.ts';
import { ClaimLoop } from '../../../src/engine/run/claim.ts';
import { slotCount } from '../../../src/engine/run/slot-count.ts';

const slots = slotCount(10, 1_000);
/** More microtasks than there are between the last step of a round and the start of the next one. */
const stepsMax = 40;

test('a wake-up at any moment of a round is not missed', async (t) => {
  // On a slow machine the poll would start rounds of its own.
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let leaseReads = 0;
  let wakeAfter: number | null = null;
  const loop = new ClaimLoop({
    ...{ db: silentDb(), slots, leaseMs: 60_000, steadyMs: () => 0, start: () => {} },
    onError: (error) => assert.fail(String(error)),
    lease() {
      // Twice in a round: before the sweep of workers and before the claim.
      if (++leaseReads % 2 === 1 || wakeAfter === null) return null;
      void wakeIn(wakeAfter);
      wakeAfter = null;
      return null;
    },
  });
  async function wakeIn(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) await null;
    loop.wake();
  }
  for (let steps = 0; steps < stepsMax; steps++) {
    const before = leaseReads;
    wakeAfter = steps;
    loop.wake();
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    assert.equal(leaseReads - before, 4, `after ${steps} steps`);
  }
  await loop.stop();
});
