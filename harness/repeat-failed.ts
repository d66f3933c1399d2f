import { type FailedFiles, runFiles } from './run-files.ts';

/**
 * In CI, a file that failed runs once more, alone, in a fresh process. If it passes then, the run passes and its last
 * lines name the tests, so that one unlucky test does not hide what the change is worth. A `flaky:` line is a defect.
 */

/** More failed files than this are no accident. */
const repeatedFilesMax = 2;

/**
 * Claims and tests of limits, idempotency, crashes and leases: a failure that does not come again is exactly what they look
 * for.
 */
export const neverRepeated: readonly RegExp[] = [
  /^test\/proof\//,
  /limit|429|quota|slots|concurrency|open-/,
  /idempoten|replay|repeat/,
  /crash|kill|lost|shutdown|drain|restart|failover|isolated-ends|two-processes|deadlocks/,
  /lease|claim|sweep|promoted|at-most-once|revoke/,
];

export interface Repetition {
  readonly passed: boolean;
  /** `flaky: FILE > TEST` for each test that failed only once. */
  readonly flaky: readonly string[];
}

export async function repeatFailed(failed: FailedFiles, signal: AbortSignal): Promise<Repetition> {
  const files = [...failed.keys()];
  const refused = files.find((file) => neverRepeated.some((pattern) => pattern.test(file)));
  if (refused !== undefined) console.error(`not repeated: ${refused} must pass every time`);
  if (files.length > repeatedFilesMax) console.error(`not repeated: ${files.length} files failed`);
  if (refused !== undefined || files.length > repeatedFilesMax) return { passed: false, flaky: [] };
  const flaky: string[] = [];
  for (const [file, names] of failed) {
    console.log(`\nrepeated: ${file}`);
    const again = await runFiles([file], signal);
    if (again.failed.size > 0 || again.processFailed) return { passed: false, flaky };
    const tests = names.length > 0 ? names : ['(its process ended)'];
    flaky.push(...tests.map((name) => `flaky: ${file} > ${name}`));
  }
  return { passed: true, flaky };
}
