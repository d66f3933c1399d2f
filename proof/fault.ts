/**
 * A deliberate fault: one source location changed while a process loads it. The shipped code has no switch for it. If
 * the location no longer exists, applying the fault throws.
 */
export interface Fault {
  readonly name: string;
  /** The mechanism that it removes. */
  readonly description: string;
  /** Below `src`. */
  readonly file: string;
  /** Must occur exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The number of rounds if a test's rounds do not find it. */
  readonly rounds?: number;
  /** It delays something instead of breaking it: only the goals of `checkGoals` find it. */
  readonly late?: boolean;
}

/** The source with the fault. */
export function applyFault({ name, file, find, replace }: Fault, source: string): string {
  const [before, after, ...more] = source.split(find);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`the text that the fault ${name} replaces must stand once in src/${file}`);
  }
  return before + replace + after;
}
