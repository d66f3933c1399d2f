import { limitsExact } from '../../proof/claims/limits-exact.ts';
import { proveInTest } from './prove.ts';

proveInTest(limitsExact);
