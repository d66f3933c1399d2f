import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { behindPooler } from '../../proof/claims/behind-pooler.ts';
import { claims } from '../../proof/claims.ts';
import { poolerVersion } from '../../proof/pooler.ts';
import { proveOn } from '../../proof/prove.ts';

/** A few rounds of each claim. `npm run proof -- --faults` checks that the claims find their faults. */

const noPooler =
  poolerVersion() === null && 'pgbouncer is not installed: apt-get install pgbouncer';

/** Workers that share a slow machine with other tests lose shorter leases again and again, and complete nothing. */
const leaseMs = 5_000;

// Claims mostly wait for leases and processes.
describe('claims', { concurrency: 3 }, () => {
  for (const claim of claims) {
    test(`${claim.name}: ${claim.description}`, {
      skip: claim === behindPooler && noPooler,
    }, async () => {
      const options = { fault: null, seed: 1, leaseMs };
      const { violations } = await proveOn(options, claim, claim.rounds.test);
      assert.deepEqual(violations, []);
    });
  }
});
