import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { globSync, statSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { promisify } from 'node:util';
import { shareCluster } from './database.ts';
import { prepareFastStarts } from './environment.ts';
import { keepFilesInMemory } from './in-memory.ts';
import { onInterruption } from './interruption.ts';
import { createTestQueue, remainingFiles } from './test-queue.ts';

/**
 * `npm test [-- patterns...]` runs the test files in a few processes that share one PostgreSQL, each with one browser.
 *
 * Neither mode of `node --test` fits. A process per file spends more time on starting than on testing. With
 * `--test-isolation=none` Node loads all files of a shard before it runs the first test: hundreds of services would be
 * open at once, and a `beforeEach` would run before the tests of every other file. So each process takes one file after
 * the other from a queue and imports it inside a test (`test-process.ts`). Node's runner collects the reports.
 */

const root = join(import.meta.dirname, '..');
/** Tests wait more than they compute, so there are more processes than cores. */
const processes = 5;
/** Halves the time of garbage collection: node:test makes it track the end of every promise. */
const execArgv = ['--max-semi-space-size=64'];
/** A short file that runs for minutes. */
const claimsFile = 'test/proof/claims.test.ts';

const patterns = process.argv.slice(2);
const files = testFiles(patterns.length > 0 ? patterns : ['test/**/*.test.ts']);
await buildDashboard();
await keepFilesInMemory();
await prepareFastStarts();
const queue = await createTestQueue(files);
const cluster = await shareCluster();
const interruption = new AbortController();
onInterruption(() => interruption.abort());

let passed = true;
const reports = run({
  files: Array.from({ length: Math.min(processes, files.length) }, () =>
    join(import.meta.dirname, 'test-process.ts'),
  ),
  concurrency: processes,
  execArgv,
  signal: interruption.signal,
});
reports.on('test:fail', () => {
  passed = false;
});
const output = reports.compose(spec);
output.pipe(process.stdout);
await once(output, 'end');

const notRun = await remainingFiles(queue);
for (const file of notRun) console.error(`not run: ${file}`);
await cluster.stop();
await rm(queue, { recursive: true });
process.exitCode = passed && notRun.length === 0 ? 0 : 1;

/** Sorts by size, largest first, so that no process still runs a long file when the others have finished. */
function testFiles(globs: string[]): string[] {
  const sizes = globSync(globs, { cwd: root, exclude: ['**/node_modules/**'] }).map((file) => ({
    file,
    bytes: file === claimsFile ? Number.POSITIVE_INFINITY : statSync(join(root, file)).size,
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
