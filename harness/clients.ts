import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * Third-party clients, in a package of their own: `.ci/run` installs it, `npm ci` does not. Programs in `test/clients` import
 * them and write what they got as JSON.
 */

export const clientsFolder = join(import.meta.dirname, '..', 'test', 'clients');

/** Why tests of a client are skipped; false if it is installed. */
export function skipWithout(name: string): string | false {
  if (existsSync(join(clientsFolder, 'node_modules', name))) return false;
  return `${name} is not installed: npm ci --prefix test/clients`;
}

/** Python with the packages of `requirements.txt`. */
export const pythonEnv = { PYTHONPATH: join(clientsFolder, 'python'), PYTHONUTF8: '1' };

/** Why tests of `openai` for Python are skipped; false if it is installed. */
export function skipWithoutPython(): string | false {
  if (existsSync(join(pythonEnv.PYTHONPATH, 'openai'))) return false;
  return 'openai is not installed: python3 -m pip install --target test/clients/python -r test/clients/requirements.txt';
}

export interface ClientRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a file below `test/clients` with this Node. */
export async function runClient(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<ClientRun> {
  const child = spawn(process.execPath, [join(clientsFolder, file), ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

/** Runs a file below `test/clients` with Python. */
export async function runPython(
  file: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const options = { env: { ...process.env, ...pythonEnv, ...env } };
  const { stdout } = await promisify(execFile)('python3', [join(clientsFolder, file)], options);
  return stdout;
}

/** The JSON that a program wrote. */
// biome-ignore lint/suspicious/noExplicitAny: tests read any field
export async function clientResult(file: string, ...args: readonly string[]): Promise<any> {
  const { code, stdout, stderr } = await runClient(file, args);
  if (code !== 0) throw new Error(`${file} ended with ${code}: ${stdout}${stderr}`);
  return JSON.parse(stdout);
}
