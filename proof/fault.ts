/**
 * A deliberate fault: a change of one place in the source as a process loads it. What is shipped has no switch for it,
 * and a place that has been rewritten makes the fault fail loudly instead of passing for harmless.
 */
export interface Fault {
  readonly name: string;
  /** What it takes away. */
  readonly says: string;
  /** Below `src`. */
  readonly file: string;
  /** Must stand there exactly once. */
  readonly find: string;
  readonly replace: string;
  /** Where it takes more than a test makes to find it. */
  readonly rounds?: number;
  /** It keeps a promise too late, not never: only the goals in milliseconds tell, which stand in `judge`. */
  readonly late?: boolean;
}

/** The source with the fault in it. */
export function spoil({ name, file, find, replace }: Fault, source: string): string {
  const [before, after, ...more] = source.split(find);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`the text that the fault ${name} replaces must stand once in src/${file}`);
  }
  return before + replace + after;
}
