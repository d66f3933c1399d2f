import { once } from 'node:events';
import { join } from 'node:path';
import { run } from 'node:test';
import type { TestedFault } from './faults.ts';

export interface Results {
  readonly passed: number;
  /** In the order of their ends. */
  readonly failures: readonly Failure[];
}

interface Failure {
  readonly file: string;
  readonly test: string;
  readonly message: string;
  /** Whether an assertion of the test failed. Otherwise something was thrown, the file did not load, or a hook failed. */
  readonly asserted: boolean;
}

const root = join(import.meta.dirname, '../..');
const loader = join(root, 'proof/fault-loader.ts');
/** Only a hanging test exceeds it, even on a slow machine. */
const timeoutMs = 600_000;

/** Runs test files with the fault or without one. Each has its own process: those of `npm test` take many files. */
export async function runTests(
  files: readonly string[],
  fault: TestedFault | null,
  signal: AbortSignal,
): Promise<Results> {
  let passed = 0;
  const failures: Failure[] = [];
  const reports = run({
    files: files.map((file) => join(root, file)),
    ...(fault && { execArgv: ['--import', loader] }),
    env: { ...process.env, ...(fault && { CUELINE_FAULT: JSON.stringify(fault) }) },
    concurrency: 1,
    // The option `timeout` would not end a process that hangs after its tests.
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  });
  reports.on('test:pass', ({ details, skip, todo }) => {
    if (details.type === 'test' && !skip && !todo) passed++;
  });
  reports.on('test:fail', ({ name, file = '', details: { type, error } }) => {
    // The failures of its subtests are reported by themselves.
    if ('failureType' in error && error.failureType === 'subtestsFailed') return;
    const cause = error.cause ?? error;
    const message = cause instanceof Error ? cause.message : String(cause);
    const asserted =
      type === 'test' &&
      cause instanceof Error &&
      'code' in cause &&
      cause.code === 'ERR_ASSERTION';
    failures.push({ file: file.slice(root.length + 1), test: name, message, asserted });
  });
  await once(reports.resume(), 'end');
  return { passed, failures };
}
