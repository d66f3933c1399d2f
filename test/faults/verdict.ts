import type { Results } from './run-with-fault.ts';

/**
 * A fault is found if one test fails by an assertion and another one passes. So a fault that keeps the source from loading, or
 * that breaks everything, is not found.
 */

/** Why test files cannot find anything; null if they can. */
export function problemWithoutFault({ passed, failures: [first] }: Results): string | null {
  if (first) return `${first.test}: ${first.message}`;
  return passed === 0 ? 'it has no tests' : null;
}

/** The test that found a fault, or why none did. */
export type Verdict = { readonly foundBy: string } | { readonly problem: string };

export function verdictOf({ passed, failures }: Results): Verdict {
  const [first] = failures;
  if (!first) return { problem: `all ${passed} tests pass` };
  const evidence = failures.find(({ asserted }) => asserted);
  if (!evidence) return { problem: `no assertion fails, but ${first.test}: ${first.message}` };
  if (passed === 0) return { problem: `no test passes; ${evidence.test}: ${evidence.message}` };
  return { foundBy: `${evidence.file} > ${evidence.test}` };
}
