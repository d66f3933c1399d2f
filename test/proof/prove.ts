import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Claim } from '../../proof/claim.ts';
import { openGround } from '../../proof/ground.ts';

/** A handful of rounds of a claim. That its faults are found takes longer: `npm run proof -- --faults`. */
export function proveInTest(claim: Claim): void {
  test(claim.says, async () => {
    const ground = await openGround({ fault: null, seed: 1 });
    try {
      const { violations } = await claim.prove(ground, claim.rounds.test);
      assert.deepEqual(violations, []);
    } finally {
      await ground.close();
    }
  });
}
