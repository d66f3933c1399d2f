import type { Claim, Found } from './claim.ts';
import { type EnvironmentOptions, openEnvironment } from './environment.ts';

/** Makes rounds of a claim in a fresh environment. Every claim also implies that no process exits by itself. */
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
