import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { failover } from '../../proof/claims/failover.ts';
import { claims } from '../../proof/claims.ts';
import { proveOn } from '../../proof/prove.ts';

/** A few rounds of each claim. `npm run proof -- --faults` checks that the claims find their faults. */

/** The longest first: it mostly waits, while the others compute. */
const ordered = claims.toSorted((a, b) => Number(b === failover) - Number(a === failover));

/** Workers that share a slow machine with other tests lose shorter leases again and again, and complete nothing. */
const leaseMs = 5_000;

// Claims mostly wait for leases and processes.
describe('claims', { concurrency: 3 }, () => {
  for (const claim of ordered) {
    test(`${claim.name}: ${claim.description}`, {
      skip: claim.missing?.() ?? false,
    }, async () => {
      const options = { fault: null, seed: 1, leaseMs };
      const { violations } = await proveOn(options, claim, claim.rounds.test);
      assert.deepEqual(violations, []);
    });
  }
});
