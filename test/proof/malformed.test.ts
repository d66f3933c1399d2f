import { malformed } from '../../proof/claims/malformed.ts';
import { proveInTest } from './prove.ts';

proveInTest(malformed);
