import { join } from 'node:path';
import { test } from 'node:test';
import { shareBrowser } from '../test/dashboard/chromium.ts';
import { onInterruption } from './interruption.ts';
import { openExitCode, runNextFile } from './test-queue.ts';

/** One of the processes that `run-files.ts` starts: imports one test file after the other. */

/** Inherited by all tests. Long enough for a slow machine; only a hanging test exceeds it. */
const timeoutMs = 1_800_000;
const closeMsMax = 10_000;

// Otherwise a test that awaits something unreferenced would end the process, and the remaining files would not run.
const keepAlive = setInterval(() => {}, 2 ** 31 - 1);
const closeBrowser = shareBrowser();
onInterruption(closeBrowser);
const runFile = async (file: string) => {
  const path = join(import.meta.dirname, '..', file);
  // Tests and hooks that a file declares while it loads belong to this test, and end with it.
  await test(file, { timeout: timeoutMs }, () => import(path));
};
while (await runNextFile(runFile));
clearInterval(keepAlive);
// Otherwise a file with open handles would keep the process alive forever.
setTimeout(() => {
  console.error(`still open after the last test: ${process.getActiveResourcesInfo().join(', ')}`);
  process.exit(openExitCode);
}, closeMsMax).unref();
await closeBrowser();
