import { execFile } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { program } from 'commander';
import { shareCluster } from './database.ts';
import { prepareFastStarts } from './environment.ts';
import { keepFilesInMemory } from './in-memory.ts';
import { onInterruption } from './interruption.ts';
import { repeatFailed } from './repeat-failed.ts';
import { runFiles } from './run-files.ts';
import { startStress } from './stress.ts';

/** `npm test` and `npm run test:slow`. CONTRIBUTING.md says what belongs into which suite. */

const root = join(import.meta.dirname, '..');
/** Files of the slow suite end in this. */
const slowEnd = '.slow.test.ts';
/** Short files that run for minutes. */
const longFiles = ['test/proof/claims.test.ts', 'test/proof/claims.slow.test.ts'];

program
  .argument('[patterns...]', 'files of either suite, default: all files of this one')
  .option('--slow', 'the slow suite')
  .option('--stress', 'beside busy loops and with delayed event loops')
  .parse();
const options = program.opts<{ slow?: true; stress?: true }>();
const files = testFiles(program.args);

await buildDashboard();
await keepFilesInMemory();
await prepareFastStarts();
const cluster = await shareCluster();
const interruption = new AbortController();
onInterruption(() => interruption.abort());
const stopStress = options.stress ? startStress() : () => {};

const { failed, processFailed } = await runFiles(files, interruption.signal);
let passed = failed.size === 0 && !processFailed;
let flaky: readonly string[] = [];
const mayRepeat = process.env.CI === 'true' && !processFailed && !interruption.signal.aborted;
if (failed.size > 0 && mayRepeat) {
  ({ passed, flaky } = await repeatFailed(failed, interruption.signal));
}

stopStress();
await cluster.stop();
for (const line of flaky) console.log(line);
process.exitCode = passed ? 0 : 1;

/** Sorts by size, largest first, so that no process still runs a long file when the others have finished. */
function testFiles(patterns: readonly string[]): string[] {
  const globs = patterns.length > 0 ? patterns : ['test/**/*.test.ts'];
  const matching = globs.map((glob) => {
    const names = globSync(glob, { cwd: root, exclude: ['**/node_modules/**'] });
    // Otherwise a misspelled pattern would pass.
    if (names.length === 0) program.error(`No test file matches ${glob}. Quote patterns.`);
    return names;
  });
  const sizes = [...new Set(matching.flat())]
    .filter((file) => patterns.length > 0 || file.endsWith(slowEnd) === (options.slow ?? false))
    .map((file) => ({
      file,
      bytes: longFiles.includes(file) ? Number.POSITIVE_INFINITY : statSync(join(root, file)).size,
    }));
  return sizes.toSorted((a, b) => b.bytes - a.bytes).map(({ file }) => file);
}

/** Rebuilds the dashboard if a source is newer than the last build. */
async function buildDashboard(): Promise<void> {
  const builtMs = await modifiedMs(join(root, 'dist/dashboard/index.html'));
  const folders = ['dashboard', 'src/client'].map((folder) => join(root, folder));
  const sources = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(folder, { recursive: true })).map((name) => modifiedMs(join(folder, name))),
    ),
  );
  const modified = await Promise.all(sources.flat());
  if (Math.max(...modified) < builtMs) return;
  await promisify(execFile)(process.execPath, [join(root, 'dashboard/build.ts')]);
}

/** 0 if the file does not exist. */
async function modifiedMs(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
