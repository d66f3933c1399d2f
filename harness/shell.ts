import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * What documented commands print, run with these variables alone. Fails with the first command that fails. Not synchronous: the
 * process of the test answers them.
 */
export async function runShell(
  commands: string,
  env: Readonly<Record<string, string>>,
  cwd?: string,
): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-euc', commands], {
    ...{ cwd, env: { PATH: process.env.PATH, ...env } },
  });
  return stdout;
}
