import type { Claim, Found } from './claim.ts';
import { type EnvironmentOptions, openEnvironment } from './environment.ts';

/** Runs rounds of a claim in a fresh environment. Every claim implies that no process exits without a signal. */
export async function proveOn(
  options: EnvironmentOptions,
  claim: Claim,
  rounds: number,
): Promise<Found> {
  const environment = await openEnvironment(options);
  try {
    const found = await claim.prove(environment, rounds);
    return { ...found, violations: [...found.violations, ...environment.deaths()] };
  } finally {
    await environment.close();
  }
}
