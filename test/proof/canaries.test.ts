import { canaries } from '../../proof/claims/canaries.ts';
import { proveInTest } from './prove.ts';

proveInTest(canaries);
