import { failover } from '../../proof/claims/failover.ts';
import { claims, guardingClaims } from '../../proof/claims.ts';
import { testClaims } from './test-claims.ts';

const others = claims.filter((claim) => !guardingClaims.includes(claim));

/** The longest first: it mostly waits, while the others compute. */
testClaims(others.toSorted((a, b) => Number(b === failover) - Number(a === failover)));
