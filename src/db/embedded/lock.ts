import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartupFailure } from '../../core/startup-failure.ts';

/**
 * The lock of a data directory: at most one Cueline process owns it. The kernel must release the lock when its owner dies,
 * so it is an fcntl lock on the file `lock`. Node offers these only through SQLite; the file never contains data. The file
 * `pid` names the owner and its state, and is meaningless while the lock is free.
 *
 * Rejected: a file with a pid (pids are reused, and two processes can both find it stale); a unix socket (the same race
 * over a stale socket, and paths of at most 107 bytes); an advisory lock in PostgreSQL (lost at each of its restarts).
 */
export interface DirectoryLock {
  /** Publishes a new state of the owner. */
  setState(state: OwnerState): void;
  release(): void;
}

/** A server during startup, a server whose database others may use, or a command with a database of its own. */
export type OwnerState = (typeof ownerStates)[number];
const ownerStates = ['starting', 'serving', 'command'] as const;

export interface LockOwner {
  /** Both are `unknown` for a moment, until a new owner has written the file. */
  readonly pid: string;
  readonly state: OwnerState | 'unknown';
}

/** Another process owns the lock. */
export class DirectoryLocked extends StartupFailure {
  readonly directory: string;
  readonly owner: LockOwner;

  constructor(directory: string, owner: LockOwner) {
    super(
      `Another Cueline (pid ${owner.pid}) uses the data directory ${directory}. ` +
        'Stop it, or set CUELINE_DATA_DIR to another directory.',
    );
    this.directory = directory;
    this.owner = owner;
  }
}

const sqliteBusy = 5;

/**
 * Acquires the lock of a directory without waiting.
 * @throws {DirectoryLocked} if another process owns it, {StartupFailure} if the lock files are unusable
 */
export function acquireLock(directory: string, state: OwnerState): DirectoryLock {
  const pidFile = join(directory, 'pid');
  const path = join(directory, 'lock');
  const file = openLockFile(path);
  try {
    // Not `begin exclusive`: it also fails against a concurrent attempt, so that neither of two might succeed.
    file.exec('pragma journal_mode = off; begin immediate');
  } catch (error) {
    file.close();
    if ((error as { errcode?: number }).errcode !== sqliteBusy) throw lockFailure(path, error);
    throw new DirectoryLocked(directory, readOwner(pidFile));
  }
  const setState = (next: OwnerState) => {
    try {
      // A killed owner may have left the file, possibly as another user.
      rmSync(pidFile, { force: true });
      writeFileSync(pidFile, `${process.pid}\n${next}\n`);
    } catch (error) {
      throw lockFailure(pidFile, error);
    }
  };
  try {
    setState(state);
  } catch (error) {
    file.close();
    throw error;
  }
  return {
    setState,
    release() {
      rmSync(pidFile, { force: true });
      file.close();
    },
  };
}

function openLockFile(path: string): DatabaseSync {
  try {
    // Mode 0600: a process that can read a file can also lock it. An existing file is not opened here, because closing it again
    // would release a lock of this process on it.
    if (!existsSync(path)) writeFileSync(path, '', { mode: 0o600 });
    // SQLite's defensive mode writes a journal beside the file, which a killed owner would leave behind.
    return new DatabaseSync(path, { defensive: false });
  } catch (error) {
    throw lockFailure(path, error);
  }
}

/** For example, the disk is full. */
function lockFailure(path: string, error: unknown): StartupFailure {
  const { message } = error as Error;
  return new StartupFailure(`Acquiring the lock ${path} failed: ${message}.`, { cause: error });
}

function readOwner(pidFile: string): LockOwner {
  try {
    const [pid, word] = readFileSync(pidFile, 'utf8').split('\n');
    return { pid: pid || 'unknown', state: ownerStates.find((one) => one === word) ?? 'serving' };
  } catch {
    return { pid: 'unknown', state: 'unknown' };
  }
}
