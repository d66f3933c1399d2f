import { signInThrottle } from '../../proof/claims/sign-in-throttle.ts';
import { proveInTest } from './prove.ts';

proveInTest(signInThrottle);
