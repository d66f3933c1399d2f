import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { BrowserServer } from 'playwright-core';
import { type Cluster, startCluster } from './cluster.ts';
import { addressVariable } from './database.ts';
import { makeStartsCheap } from './environment.ts';
import { handOut, handOutVariable } from './hand-out.ts';
import { keepFilesInMemory } from './in-memory.ts';
import { sharedFiles } from './together.ts';

/** Once for each `npm test` (`--test-global-setup`): one PostgreSQL for all files, one browser where one is asked for, and the dashboard as it is now. */

let cluster: Cluster | undefined;
let browser: Promise<BrowserServer> | undefined;
let handedOut: Awaited<ReturnType<typeof handOut>> | undefined;

export async function globalSetup(): Promise<void> {
  await buildDashboard();
  await keepFilesInMemory();
  await makeStartsCheap();
  cluster = await startCluster();
  const files = sharedFiles();
  handedOut = await handOut({
    async browser() {
      browser ??= import('../test/dashboard/chromium.ts').then(({ serveBrowser }) =>
        serveBrowser(),
      );
      return (await browser).wsEndpoint();
    },
    file: () => files.shift() ?? null,
  });
  process.env[handOutVariable] = handedOut.address;
  process.env[addressVariable] = JSON.stringify(cluster.admin);
}

export async function globalTeardown(): Promise<void> {
  handedOut?.end();
  await (await browser?.catch(() => null))?.close();
  await cluster?.stop();
}

const root = join(import.meta.dirname, '..');

/** Where a source is younger than the build; before any test, because a build takes the one before away. */
async function buildDashboard(): Promise<void> {
  const built = await changedMs(join(root, 'dist/dashboard/index.html'));
  const folders = ['dashboard', 'src/client'].map((folder) => join(root, folder));
  const sources = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(folder, { recursive: true })).map((name) => changedMs(join(folder, name))),
    ),
  );
  const changed = await Promise.all(sources.flat());
  if (Math.max(...changed) < built) return;
  await promisify(execFile)(process.execPath, [join(root, 'dashboard/build.ts')]);
}

async function changedMs(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
