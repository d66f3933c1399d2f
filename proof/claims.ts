import type { Claim } from './claim.ts';
import { outboundGuard } from './claims/outbound-guard.ts';
import { workerKilled } from './claims/worker-killed.ts';

/** All claims, in the order in which they are proved. */
export const claims: readonly Claim[] = [workerKilled, outboundGuard];
