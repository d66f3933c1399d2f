import { idempotent } from '../../proof/claims/idempotent.ts';
import { proveInTest } from './prove.ts';

proveInTest(idempotent);
