import { revoked } from '../../proof/claims/revoked.ts';
import { proveInTest } from './prove.ts';

proveInTest(revoked);
