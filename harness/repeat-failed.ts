import { type FailedFiles, runFiles } from './run-files.ts';

/**
 * In CI, a file that failed runs once more, alone, in a fresh process. If it passes then, the run passes and its last
 * lines name the tests, so that one unlucky test does not hide what the change is worth. A `flaky:` line is a defect.
 */

/** More failed files than this are no accident. */
const repeatedFilesMax = 2;

/**
 * Claims and tests of limits, idempotency, crashes and leases: a failure that does not come again is exactly what they look
 * for. Their file or their own name says what they are about, so these match `FILE > TEST`.
 */
export const neverRepeated: readonly RegExp[] = [
  /^test\/(proof|engine\/run)\//,
  /limit|429|quota|slots|concurren|open-/i,
  /idempoten|replay|repeat|exactly/i,
  /crash|kill|lost|shutdown|drain|restart|failover|isolated-ends|two-processes|deadlock/i,
  /lease|fence|claim|sweep|promoted|at-most-once|revok/i,
];

export interface Repetition {
  readonly passed: boolean;
  /** `flaky: FILE > TEST` for each test that failed only once. */
  readonly flaky: readonly string[];
}

export async function repeatFailed(failed: FailedFiles, signal: AbortSignal): Promise<Repetition> {
  const places = [...failed].map(([file, names]) => ({
    file,
    tests: (names.length > 0 ? names : ['(outside its tests)']).map((name) => `${file} > ${name}`),
  }));
  const refused = places
    .flatMap(({ tests }) => tests)
    .find((test) => neverRepeated.some((pattern) => pattern.test(test)));
  if (refused !== undefined) console.error(`not repeated: ${refused} must pass every time`);
  if (failed.size > repeatedFilesMax) console.error(`not repeated: ${failed.size} files failed`);
  if (refused !== undefined || failed.size > repeatedFilesMax) return { passed: false, flaky: [] };
  const flaky: string[] = [];
  for (const { file, tests } of places) {
    console.log(`\nrepeated: ${file}`);
    const again = await runFiles([file], signal);
    if (again.failed.size > 0 || again.processFailed) return { passed: false, flaky };
    flaky.push(...tests.map((test) => `flaky: ${test}`));
  }
  return { passed: true, flaky };
}
