import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { silentDb } from '../../harness/silent-db.ts';
import { claimLoop } from '../../src/worker/claim.ts';
import { slotCount } from '../../src/worker/slot-count.ts';

const count = slotCount(10);
/** More than lie between the last step of a look and the time when the next may begin. */
const stepsMax = 40;

test('whoever wakes the loop is heard, at whatever moment a look ends', async () => {
  let asked = 0;
  let wakeAfter: number | null = null;
  const loop = claimLoop({
    ...{ db: silentDb(), count, leaseMs: 60_000, steadyMs: () => 0, start: () => {} },
    onError: (error) => assert.fail(String(error)),
    lease() {
      // Twice in a look: before others are swept up, and before the claim.
      if (++asked % 2 === 1 || wakeAfter === null) return null;
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
    const before = asked;
    wakeAfter = steps;
    loop.wake();
    for (let turns = 0; turns < 20; turns++) await turn();
    assert.equal(asked - before, 4, `after ${steps} steps`);
  }
  await loop.stop();
});
