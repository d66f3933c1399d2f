import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartFailure } from '../../core/start-failure.ts';

/**
 * One Cueline to a data directory. The lock has to vanish with its holder, however that dies, so it is the kernel's:
 * an fcntl lock on a file, which Node offers only through its SQLite. Nothing is ever stored in that file.
 *
 * Rejected: a file with a process id (ids are used again, and two starters can both find it stale); a unix socket
 * (the same race over a stale one, and paths of at most 107 bytes); an advisory lock in PostgreSQL (lost whenever
 * PostgreSQL is started anew beneath us).
 */

/** Two starters that look at the same moment can both find the lock busy for an instant. */
const busyMs = 250;
const sqliteBusy = 5;

/** Takes the lock of a directory and returns what gives it back; throws a `StartFailure` that names the holder. */
export function hold(directory: string): () => void {
  const pidFile = join(directory, 'pid');
  const path = join(directory, 'lock');
  const file = openLock(path);
  try {
    file.exec('pragma journal_mode = off; begin exclusive');
  } catch (error) {
    file.close();
    if ((error as { errcode?: number }).errcode !== sqliteBusy) throw untaken(path, error);
    throw new StartFailure(
      `Another Cueline (pid ${holder(pidFile)}) is running on the data directory ${directory}. ` +
        'Stop it, or give this one a directory of its own with CUELINE_DATA_DIR.',
    );
  }
  try {
    // A killed one may have left it, as a file of another user.
    rmSync(pidFile, { force: true });
    writeFileSync(pidFile, `${process.pid}\n`);
  } catch (error) {
    file.close();
    throw untaken(pidFile, error);
  }
  return () => {
    rmSync(pidFile, { force: true });
    file.close();
  };
}

function openLock(path: string): DatabaseSync {
  try {
    // Ours alone: whoever may read a file may also lock it, and keep us out. Never opened where it exists:
    // closing it again would release what this process holds on it.
    if (!existsSync(path)) writeFileSync(path, '', { mode: 0o600 });
    return new DatabaseSync(path, { timeout: busyMs });
  } catch (error) {
    throw untaken(path, error);
  }
}

/** A full disk, for example. */
function untaken(path: string, error: unknown): StartFailure {
  const { message } = error as Error;
  return new StartFailure(`The lock ${path} cannot be taken: ${message}.`, { cause: error });
}

/** Only for the message: whoever holds the lock writes this a moment later. */
function holder(pidFile: string): string {
  try {
    return readFileSync(pidFile, 'utf8').trim() || 'unknown';
  } catch {
    return 'unknown';
  }
}
