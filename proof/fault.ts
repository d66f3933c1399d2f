/**
 * A deliberate fault: a change to one source location while a process loads the file. The shipped code has no switch for
 * it. Throws if the location no longer exists.
 */
export interface Fault {
  readonly name: string;
  /** The mechanism that the fault removes or breaks. */
  readonly description: string;
  /** Below `src`. */
  readonly file: string;
  /** Must occur exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The number of rounds if a test's rounds do not find it. */
  readonly rounds?: number;
  /** The fault delays something instead of breaking it: only `checkGoals` finds it. */
  readonly late?: boolean;
}

/** The source with the fault. */
export function applyFault({ name, file, find, replace }: Fault, source: string): string {
  const [before, after, ...more] = source.split(find);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(
      `src/${file} must contain the text that the fault ${name} replaces exactly once`,
    );
  }
  return before + replace + after;
}
