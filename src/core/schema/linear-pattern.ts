import { RE2JS } from 're2js';

/**
 * Patterns of JSON schemas, matched in time linear in the text. JavaScript's own engine backtracks: a pattern such as
 * `(a+)+$` would stop the process. What needs backtracking (lookaround, backreferences) does not compile.
 */
export interface LinearPattern {
  readonly test: (text: string) => boolean;
  /** Instructions of the compiled program: the time per character is at most proportional to it. */
  readonly size: number;
}

export const patternCharsMax = 1_000;
const patternSizeMax = 2_000;

/** @throws {Error} with a message for the author of the pattern; its cause is the size of one that is too large */
export function linearPattern(pattern: string): LinearPattern {
  if (pattern.length > patternCharsMax) {
    throw new Error(`is longer than ${patternCharsMax} characters`);
  }
  // The translation would turn it into the text `k<name>`.
  if (/(?<!\\)(?:\\\\)*\\k</.test(pattern)) throw new Error(unsupported);
  const compiled = compile(pattern);
  const size = compiled.programSize();
  if (size > patternSizeMax) throw new Error('has too many repetitions', { cause: size });
  return { size, test: (text) => compiled.test(text) };
}

const unsupported =
  'is not supported: use RE2 syntax, without lookaround, backreferences and repetitions above 1000';

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch {
    throw new Error(unsupported);
  }
}
