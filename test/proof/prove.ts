import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Claim } from '../../proof/claim.ts';
import { proveOn } from '../../proof/prove.ts';

/** A handful of rounds of a claim. That its faults are found takes longer: `npm run proof -- --faults`. */
export function proveInTest(claim: Claim): void {
  // The longest takes two minutes of a machine that is busy.
  test(claim.says, { timeout: 900_000 }, async () => {
    const { violations } = await proveOn({ fault: null, seed: 1 }, claim, claim.rounds.test);
    assert.deepEqual(violations, []);
  });
}
