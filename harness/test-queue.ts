import { readdirSync, readFileSync, unlinkSync } from 'node:fs';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The test files that no process has taken yet: a folder with one entry per file. Only one process can delete an entry,
 * and that process runs the file.
 */

const queueVariable = 'CUELINE_TEST_QUEUE';

/** Returns the folder, and passes it to later child processes. */
export async function createTestQueue(files: readonly string[]): Promise<string> {
  const queue = await mkdtemp(join(tmpdir(), 'cueline-test-queue-'));
  await Promise.all(
    files.map((file, index) => writeFile(join(queue, String(index).padStart(4, '0')), file)),
  );
  process.env[queueVariable] = queue;
  return queue;
}

/** Null once the queue is empty. */
export function takeTestFile(): string | null {
  const queue = process.env[queueVariable];
  if (!queue) throw new Error('There is no queue of test files. Start them with: npm test');
  for (const entry of readdirSync(queue).toSorted()) {
    try {
      const file = readFileSync(join(queue, entry), 'utf8');
      unlinkSync(join(queue, entry));
      return file;
    } catch {
      // Another process took it.
    }
  }
  return null;
}

export async function remainingFiles(queue: string): Promise<string[]> {
  const entries = await readdir(queue);
  return Promise.all(entries.map((entry) => readFile(join(queue, entry), 'utf8')));
}
