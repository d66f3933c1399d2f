import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { createTestQueue, openExitCode, remainingFiles } from './test-queue.ts';

/**
 * Runs test files in a few processes that share one PostgreSQL, each with one browser.
 *
 * Neither mode of `node --test` fits. A process per file spends more time on starting than on testing. With
 * `--test-isolation=none` Node loads all files of a shard before it runs the first test: hundreds of services would be
 * open at once, and a `beforeEach` would run before the tests of every other file. So each process takes one file after
 * the other from a queue and imports it inside a test (`test-process.ts`). Node's runner collects the reports.
 */

/** Tests wait more than they compute, so there are more processes than cores. */
const processesMax = 5;
/** Halves the time of garbage collection: node:test makes it track the end of every promise. */
const execArgv = ['--max-semi-space-size=64'];
const processFile = join(import.meta.dirname, 'test-process.ts');

/** The failed tests of each failed file. None if it failed outside of them: in a hook, while it loaded, with its process. */
export type FailedFiles = ReadonlyMap<string, readonly string[]>;

type TestError = Error & { failureType?: string; exitCode?: number | null };

export interface FilesRun {
  readonly failed: FailedFiles;
  /** A process failed by what no file answers for: something still open at the end, or an error after the last test. */
  readonly processFailed: boolean;
}

/** Prints the report. Rejects only if the runner itself fails. */
export async function runFiles(files: readonly string[], signal: AbortSignal): Promise<FilesRun> {
  const queue = await createTestQueue(files);
  const processes = Math.min(processesMax, files.length);
  const reports = run({
    files: Array.from({ length: processes }, () => processFile),
    ...{ concurrency: processes, execArgv, signal },
  });
  const failed = new Map<string, string[]>();
  let processFailures = 0;
  // Reports come in the order of definition, process by process: those of a file's tests precede the file's own.
  let names: string[] = [];
  reports.on('test:pass', ({ nesting }) => {
    if (nesting === 0) names = [];
  });
  reports.on('test:fail', ({ name, nesting, details, todo }) => {
    const { failureType } = details.error as TestError;
    if (nesting === 0) {
      if (name !== processFile) failed.set(name, names);
      names = [];
    } else if (failureType !== 'subtestsFailed' && !todo) names.push(name);
  });
  reports.on('test:complete', ({ name, details }) => {
    if (name !== processFile || !details.error) return;
    const { failureType, exitCode } = details.error as TestError;
    // The runner does not report failures of a process with failed tests.
    if (failureType !== 'subtestsFailed' || exitCode === openExitCode) processFailures++;
  });
  const output = reports.compose(spec);
  output.pipe(process.stdout, { end: false });
  await once(output, 'end');

  const { notRun, brokenOff } = await remainingFiles(queue);
  for (const file of notRun) console.error(`not run: ${file}`);
  for (const file of brokenOff) console.error(`ended its process: ${file}`);
  for (const file of [...notRun, ...brokenOff]) failed.set(file, failed.get(file) ?? []);
  await rm(queue, { recursive: true });
  return { failed, processFailed: processFailures > brokenOff.length };
}
