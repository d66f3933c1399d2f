import type { ProofEnvironment } from './environment.ts';
import type { Fault } from './fault.ts';

/** A promise of the engine and its check. */
export interface Claim {
  /** The name of the file and of the argument on the command line. */
  readonly name: string;
  /** One sentence that states the promise. */
  readonly description: string;
  /** The number of rounds of a test (0: there is none), of `npm run proof` and `npm run proof -- --full`. */
  readonly rounds: { readonly test: number; readonly short: number; readonly full: number };
  /** Rounds that share one environment. */
  readonly roundsPerEnvironment: number;
  /** Whether a full proof uses the default lease in all rounds, not only in every tenth environment. */
  readonly defaultLease?: boolean;
  /** What is not installed and how to install it; null if the claim can be checked. */
  missing?(): string | null;
  /** Each must make the proof fail within the rounds of a test. */
  readonly faults: readonly Fault[];
  /** Runs the rounds. Returns violations instead of throwing them. */
  prove(environment: ProofEnvironment, rounds: number): Promise<Found>;
  /**
   * The goals that all rounds together miss. Tests do not check them, because tests must pass on any machine.
   */
  checkGoals?(found: Found): string[];
}

export interface Found {
  /** Summed over all environments. */
  readonly counts: Readonly<Record<string, number>>;
  /** Collected one by one and reported as percentiles. */
  readonly samplesMs?: Readonly<Record<string, readonly number[]>>;
  /** With enough detail to find the cause. */
  readonly violations: readonly string[];
}

export function sumUp(found: readonly Found[]): Found {
  const counts: Record<string, number> = {};
  const samplesMs: Record<string, number[]> = {};
  for (const one of found) {
    for (const [name, count] of Object.entries(one.counts)) {
      counts[name] = (counts[name] ?? 0) + count;
    }
    for (const [name, samples] of Object.entries(one.samplesMs ?? {})) {
      samplesMs[name] = [...(samplesMs[name] ?? []), ...samples];
    }
  }
  return { counts, samplesMs, violations: found.flatMap(({ violations }) => violations) };
}

/** The nearest-rank percentile; 0 without samples. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
