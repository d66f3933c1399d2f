import { join } from 'node:path';
import { test } from 'node:test';
import { takeTestFile } from './test-queue.ts';

/** One of the processes that `run-tests.ts` starts: imports one test file after the other. */

/** Tests inherit it. It finds tests that hang, also on a slow machine. */
const timeoutMs = 900_000;
const closeMsMax = 10_000;

// Without it, a test that awaits something unreferenced would end the process, and the remaining files would not run.
const keepAlive = setInterval(() => {}, 2 ** 31 - 1);
for (let file = takeTestFile(); file !== null; file = takeTestFile()) {
  const path = join(import.meta.dirname, '..', file);
  // Tests and hooks that a file declares while it loads belong to this test, and end with it.
  await test(file, { timeout: timeoutMs }, () => import(path));
}
clearInterval(keepAlive);
// A file that left something open would otherwise keep the process alive forever.
setTimeout(() => process.exit(1), closeMsMax).unref();
