import type { Claim, Found } from './claim.ts';
import { type GroundOptions, openGround } from './ground.ts';

/** So many rounds of a claim on fresh ground; that no process dies by itself is part of each claim. */
export async function proveOn(
  options: GroundOptions,
  claim: Claim,
  rounds: number,
): Promise<Found> {
  const ground = await openGround(options);
  try {
    const found = await claim.prove(ground, rounds);
    return { ...found, violations: [...found.violations, ...ground.deaths()] };
  } finally {
    await ground.close();
  }
}
