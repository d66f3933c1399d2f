import type { Claim } from './claim.ts';

/** All claims, in the order in which they are proved. */
export const claims: readonly Claim[] = [];
