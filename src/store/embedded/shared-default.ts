import { chmod, mkdir, stat } from 'node:fs/promises';
import { StartupFailure } from '../../core/startup-failure.ts';
import { type Account, reaches } from './account.ts';

/**
 * Root's own place for what the account of PostgreSQL must get at but cannot, where `node_modules` or the data
 * directory lies below a folder that only root may enter. Not under /tmp, which is emptied and often forbids
 * programs. Rejected: opening that folder to others (it is not ours), a bind mount (containers forbid it), and
 * capabilities that override file modes (they would open all other files too).
 */
export const sharedDefault = '/var/lib/cueline-embedded';

export async function openShared(directory: string, account: Account): Promise<string> {
  const made = await mkdir(directory, { recursive: true });
  if (made) await chmod(directory, 0o755);
  const { uid, mode } = await stat(directory);
  if (uid !== 0 || mode & 0o022) {
    throw new StartupFailure(`${directory} must belong to root and be writable by nobody else.`);
  }
  if (!(await reaches(account, directory))) {
    throw new StartupFailure(
      `PostgreSQL runs as uid ${account.uid}, which cannot enter ${directory}. Give Cueline a data directory ` +
        'that others may pass through with CUELINE_DATA_DIR, start it as another user, or set DATABASE_URL.',
    );
  }
  return directory;
}
