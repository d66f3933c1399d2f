import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The test files of a run: a folder with one entry per file. Only one process can rename an entry, and that process runs
 * the file and deletes the entry at its end. So what remains tells which files did not run, and which ones ended their process.
 */

const queueVariable = 'CUELINE_TEST_QUEUE';
const claimed = '.claimed';
/** Of a process in which something is still open after the last test. Failed tests exit with 1. */
export const openExitCode = 2;

/** Returns the folder, and passes it to later child processes. */
export async function createTestQueue(files: readonly string[]): Promise<string> {
  const queue = await mkdtemp(join(tmpdir(), 'cueline-test-queue-'));
  await Promise.all(
    files.map((file, index) => writeFile(join(queue, String(index).padStart(4, '0')), file)),
  );
  process.env[queueVariable] = queue;
  return queue;
}

/** Runs the next file; false once the queue is empty. */
export async function runNextFile(run: (file: string) => Promise<void>): Promise<boolean> {
  const entry = claimEntry();
  if (entry === null) return false;
  await run(readFileSync(entry, 'utf8'));
  rmSync(entry);
  return true;
}

function claimEntry(): string | null {
  const queue = process.env[queueVariable];
  if (!queue) throw new Error('There is no queue of test files. Start them with: npm test');
  for (const name of readdirSync(queue).toSorted()) {
    if (name.endsWith(claimed)) continue;
    const entry = join(queue, name);
    try {
      renameSync(entry, entry + claimed);
      return entry + claimed;
    } catch {
      // Another process claimed it.
    }
  }
  return null;
}

/** Files that no process has started, and files whose process ended before they did. */
export async function remainingFiles(queue: string) {
  const names = (await readdir(queue)).toSorted();
  const read = (wanted: boolean) =>
    Promise.all(
      names
        .filter((name) => name.endsWith(claimed) === wanted)
        .map((name) => readFile(join(queue, name), 'utf8')),
    );
  return { notRun: await read(false), brokenOff: await read(true) };
}
