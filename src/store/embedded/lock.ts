import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartupFailure } from '../../core/startup-failure.ts';

/**
 * One Cueline to a data directory. The lock has to vanish with its holder, however that dies, so it is the kernel's:
 * an fcntl lock on a file, which Node offers only through its SQLite. Nothing is ever stored in that file. Beside it
 * the file `pid` says who holds the lock, and as what; where nobody does, it says nothing, whatever stands in it.
 *
 * Rejected: a file with a process id (ids are used again, and two starters can both find it stale); a unix socket
 * (the same race over a stale one, and paths of at most 107 bytes); an advisory lock in PostgreSQL (lost whenever
 * PostgreSQL is started anew beneath us).
 */
export interface Lock {
  /** Tells others from now on that it is held as this. */
  become(as: HeldAs): void;
  release(): void;
}

/** A server that starts, one whose database others may use, or a command, whose database is its own. */
export type HeldAs = (typeof allHeldAs)[number];
const allHeldAs = ['starting', 'serving', 'command'] as const;

export interface Holder {
  /** Or `unknown`, and `as` too: whoever holds the lock writes this a moment later. */
  readonly pid: string;
  readonly as: HeldAs | 'unknown';
}

/** Another holds the lock. */
export class Held extends StartupFailure {
  readonly directory: string;
  readonly holder: Holder;

  constructor(directory: string, holder: Holder) {
    super(
      `Another Cueline (pid ${holder.pid}) is running on the data directory ${directory}. ` +
        'Stop it, or give this one a directory of its own with CUELINE_DATA_DIR.',
    );
    this.directory = directory;
    this.holder = holder;
  }
}

const sqliteBusy = 5;

/** Takes the lock of a directory, or throws `Held` at once; another `StartupFailure` where it cannot be taken at all. */
export function hold(directory: string, as: HeldAs): Lock {
  const pidFile = join(directory, 'pid');
  const path = join(directory, 'lock');
  const file = openLock(path);
  try {
    // Not `exclusive`, which fails while another only looks: of two that try at once, neither might get it.
    file.exec('pragma journal_mode = off; begin immediate');
  } catch (error) {
    file.close();
    if ((error as { errcode?: number }).errcode !== sqliteBusy) throw untaken(path, error);
    throw new Held(directory, readHolder(pidFile));
  }
  const become = (next: HeldAs) => {
    try {
      // A killed one may have left it, as a file of another user.
      rmSync(pidFile, { force: true });
      writeFileSync(pidFile, `${process.pid}\n${next}\n`);
    } catch (error) {
      throw untaken(pidFile, error);
    }
  };
  try {
    become(as);
  } catch (error) {
    file.close();
    throw error;
  }
  return {
    become,
    release() {
      rmSync(pidFile, { force: true });
      file.close();
    },
  };
}

function openLock(path: string): DatabaseSync {
  try {
    // Ours alone: whoever may read a file may also lock it, and keep us out. Never opened where it exists:
    // closing it again would release what this process holds on it.
    if (!existsSync(path)) writeFileSync(path, '', { mode: 0o600 });
    // What SQLite calls defensive keeps a journal beside the file, which a killed holder would leave.
    return new DatabaseSync(path, { defensive: false });
  } catch (error) {
    throw untaken(path, error);
  }
}

/** A full disk, for example. */
function untaken(path: string, error: unknown): StartupFailure {
  const { message } = error as Error;
  return new StartupFailure(`The lock ${path} cannot be taken: ${message}.`, { cause: error });
}

function readHolder(pidFile: string): Holder {
  try {
    const [pid, word] = readFileSync(pidFile, 'utf8').split('\n');
    return { pid: pid || 'unknown', as: allHeldAs.find((as) => as === word) ?? 'serving' };
  } catch {
    return { pid: 'unknown', as: 'unknown' };
  }
}
