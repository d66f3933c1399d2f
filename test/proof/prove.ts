import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Claim } from '../../proof/claim.ts';
import type { Fault } from '../../proof/fault.ts';
import { openGround } from '../../proof/ground.ts';

/** A handful of rounds of a claim, and each fault that its proof must find. */
export function proveInTest(claim: Claim): void {
  test(claim.says, async () => {
    const { violations } = await proveOn(claim, null);
    assert.deepEqual(violations, []);
  });
  for (const fault of claim.faults) {
    test(`${claim.name} is not proved with the fault ${fault.name}: ${fault.says}`, async () => {
      const { violations } = await proveOn(claim, fault);
      assert.notEqual(violations.length, 0);
    });
  }
}

async function proveOn(claim: Claim, fault: Fault | null) {
  const ground = await openGround({ fault, seed: 1 });
  try {
    return await claim.prove(ground, claim.rounds.test);
  } finally {
    await ground.close();
  }
}
