import type { Fault } from './fault.ts';
import type { Ground } from './ground.ts';

/** A promise of the engine, and how it is put to the proof. */
export interface Claim {
  /** The file's name, and what the command line takes. */
  readonly name: string;
  /** One sentence: what holds. */
  readonly says: string;
  /** How many rounds `npm test`, `npm run proof` and `npm run proof -- --full` make of it. */
  readonly rounds: { readonly test: number; readonly short: number; readonly full: number };
  /** Rounds on one ground: what a full proof that was stopped goes on from. */
  readonly roundsPerGround: number;
  /** Whether a full proof makes all of its rounds with the lease as it is shipped, and not each tenth ground alone. */
  readonly shippedLease?: boolean;
  /** Each of them must make the proof fail, in as many rounds as a test makes. */
  readonly faults: readonly Fault[];
  /** Makes the rounds and says what was found; violations are found, not thrown. */
  prove(ground: Ground, rounds: number): Promise<Found>;
  /**
   * What all rounds together violate: goals in milliseconds stand here, where a test, which must hold on any machine,
   * does not ask.
   */
  judge?(found: Found): string[];
}

export interface Found {
  /** Added up over all grounds. */
  readonly counts: Readonly<Record<string, number>>;
  /** Kept one by one, and shown as percentiles. */
  readonly samplesMs?: Readonly<Record<string, readonly number[]>>;
  /** What did not hold, in words that say where. */
  readonly violations: readonly string[];
}

export function addUp(found: readonly Found[]): Found {
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

/** The nearest-rank percentile; 0 where there are no samples. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
