import { quotaExact } from '../../proof/claims/quota-exact.ts';
import { proveInTest } from './prove.ts';

proveInTest(quotaExact);
