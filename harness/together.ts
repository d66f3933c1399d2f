import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { askFor } from './hand-out.ts';

/**
 * Files of tests that share processes, because to start one takes as long as many a file. Each can be run by itself as
 * well: what it opens it closes, and the environment is put back as it was.
 */

const root = join(import.meta.dirname, '../test');

const sharedFolders = ['api', 'core', 'dashboard', 'flow', 'provider', 'store', 'workflow'];

/** As many as `npm test` runs at once: each is a file `test/together-N.test.ts`. */
export const processes = 5;

/** Files below `test`, the largest first: what takes long is not to be begun last. */
export function sharedFiles(): string[] {
  const size = (file: string) => statSync(join(root, file)).size;
  return globSync(`{${sharedFolders}}/**/*.test.ts`, { cwd: root }).toSorted(
    (a, b) => size(b) - size(a) || (a < b ? -1 : 1),
  );
}

/** After the last file nothing needs as long to go by itself. */
const openMsMax = 10_000;

/** One file after the other, as long as any is left. */
export async function testTogether(): Promise<void> {
  // A test that waits for what keeps no process alive would pass for the end of all, and nobody would hear of the rest.
  const awake = setInterval(() => {}, 2 ** 31 - 1);
  try {
    for (let file = await askFor('file'); file !== null; file = await askFor('file')) {
      await testFile(file);
    }
  } finally {
    clearInterval(awake);
    // Where closing failed, which was told as a failure of its file, what is still open would keep the run from its end.
    setTimeout(() => process.exit(1), openMsMax).unref();
  }
}

async function testFile(file: string): Promise<void> {
  // The limit of the command line is meant for one test. Its tests inherit this one: what hangs is found that late.
  await test(file, { timeout: 900_000 }, async (context) => {
    const environment = { ...process.env };
    context.after(() => {
      for (const name of Object.keys(process.env)) {
        if (!(name in environment)) delete process.env[name];
      }
      Object.assign(process.env, environment);
    });
    // What a file declares while it is loaded becomes a part of this test, and ends with it.
    await import(join(root, file));
  });
}
