import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, type BrowserServer, chromium, type LaunchOptions } from 'playwright-core';
import { askFor, isHandedOut } from '../../harness/hand-out.ts';

/**
 * A real browser: on Linux the Chromium from an npm package, elsewhere the installed Chrome. It is unpacked once next
 * to the packages; the folder is renamed into place atomically, because test files run in parallel. A run of many files
 * shares one browser.
 */
export async function openBrowser(): Promise<Browser> {
  if (!isHandedOut()) return chromium.launch(await launchOptions());
  return chromium.connect(await askFor('browser'));
}

/** A browser for several processes, each with its own contexts. */
export async function serveBrowser(): Promise<BrowserServer> {
  return chromium.launchServer(await launchOptions());
}

async function launchOptions(): Promise<LaunchOptions> {
  if (process.platform !== 'linux') return { channel: 'chrome' };
  const folder = await unpack();
  return {
    executablePath: join(folder, 'chromium'),
    args: [
      // Software GPU emulation takes a tenth of the browser's time.
      '--disable-gpu',
      // Chromium cannot sandbox processes of root.
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
  const ownProperty = await mkdtemp(join(cache, 'unpacking-'));
  const script = join(import.meta.dirname, 'unpack-chromium.ts');
  await promisify(execFile)(process.execPath, [script], {
    env: { ...process.env, TMPDIR: ownProperty },
  });
  await writeFile(join(ownProperty, 'fonts.conf'), fontsOf(join(folder, 'fonts')));
  await rename(ownProperty, folder).catch(() => rm(ownProperty, { recursive: true, force: true }));
  return folder;
}

/** Uses the package's fonts, with the machine's fonts as fallback. */
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
