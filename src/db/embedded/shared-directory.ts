import { access, chmod, constants, mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { StartupFailure } from '../../core/startup-failure.ts';
import { type Account, canEnter } from './account.ts';

/**
 * Root's directory for files that the account of PostgreSQL needs but cannot reach, because `node_modules` or the data
 * directory is below a directory that only root can enter. Not in /tmp, which is cleaned up and often mounted `noexec`.
 * Rejected: opening that directory to others (it is not ours), a bind mount (containers forbid it), and capabilities that
 * override file modes (they would open all other files too).
 */
export const defaultSharedDir = '/var/lib/cueline-embedded';

export async function openSharedDir(directory: string, account: Account): Promise<string> {
  const created = await mkdir(directory, { recursive: true }).catch(async (error: unknown) => {
    await refuseReadOnlyDisk(directory);
    throw error;
  });
  if (created) await chmod(directory, 0o755);
  const { uid, mode } = await stat(directory);
  if (uid !== 0 || mode & 0o022) {
    throw new StartupFailure(`${directory} must belong to root, and only root may write to it.`);
  }
  if (!(await canEnter(account, directory))) {
    throw new StartupFailure(
      `PostgreSQL runs as uid ${account.uid}, which cannot enter ${directory}. Set CUELINE_DATA_DIR to a data directory ` +
        'that others can enter, start Cueline as another user, or set DATABASE_URL.',
    );
  }
  return directory;
}

/** Throws if the folder, or that in which it would be created, is on a read-only disk: `mkdir` calls it missing. */
export async function refuseReadOnlyDisk(path: string): Promise<void> {
  const folder = resolve(path);
  const isOn = async (existing: string): Promise<boolean> => {
    const code = await access(existing, constants.W_OK).then(
      () => null,
      (error: NodeJS.ErrnoException) => error.code,
    );
    return code === 'ENOENT' ? isOn(dirname(existing)) : code === 'EROFS';
  };
  if (!(await isOn(folder))) return;
  throw new StartupFailure(
    `${folder} is on a read-only disk: let CUELINE_DATA_DIR name a folder on another disk, or set DATABASE_URL.`,
  );
}
