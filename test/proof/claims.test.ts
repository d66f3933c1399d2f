import { guardingClaims } from '../../proof/claims.ts';
import { testClaims } from './test-claims.ts';

testClaims(guardingClaims);
