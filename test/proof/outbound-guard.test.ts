import { outboundGuard } from '../../proof/claims/outbound-guard.ts';
import { proveInTest } from './prove.ts';

proveInTest(outboundGuard);
