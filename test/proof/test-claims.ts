import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Claim } from '../../proof/claim.ts';
import { proveOn } from '../../proof/prove.ts';

/** Workers that share a slow machine with other tests lose shorter leases again and again, and complete nothing. */
const leaseMs = 5_000;

/** A few rounds of each claim. `npm run proof -- --faults` checks that the claims find their faults. */
export function testClaims(claims: readonly Claim[]): void {
  // Claims mostly wait for leases and processes.
  describe('claims', { concurrency: 3 }, () => {
    for (const claim of claims.filter(({ rounds }) => rounds.test > 0)) {
      test(`${claim.name}: ${claim.description}`, {
        skip: claim.missing?.() ?? false,
      }, async () => {
        const options = { fault: null, seed: 1, leaseMs };
        const { violations } = await proveOn(options, claim, claim.rounds.test);
        assert.deepEqual(violations, []);
      });
    }
  });
}
