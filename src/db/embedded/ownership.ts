import { setTimeout as delay } from 'node:timers/promises';
import { StartupFailure } from '../../core/startup-failure.ts';
import { DirectoryLocked, type LockOwner } from './lock.ts';

/**
 * Ownership of the embedded database: who starts and stops it, and who may use it.
 *
 * The process that starts PostgreSQL owns the lock of the data directory. It acquires the lock before PostgreSQL starts and
 * releases it after PostgreSQL has ended. No other process ever stops that PostgreSQL.
 *
 * The owner's state decides what another process does:
 *
 *     owner's state   a new server          a new command
 *     no owner        acquires the lock     acquires the lock and starts PostgreSQL for itself alone
 *     starting        is rejected           waits
 *     serving         is rejected           uses the server's database
 *     command         waits                 waits, because the database ends with the command that started it
 *
 * Nobody waits longer than `waitMsMax` for the same owner. A rejected server, or a command that needs the database alone
 * (`secrets rotate`), retries for `rejectionMs`, because the pid file may still name the previous owner.
 *
 * Failure cases, including `kill -9`:
 *
 * - The owner dies: the kernel releases the lock. The next owner stops the orphaned PostgreSQL before it starts its own
 *   (`stopOrphan`), and waiting processes continue.
 * - A command that uses a server's database dies: PostgreSQL rolls back its open transaction. Nobody else is affected.
 * - A server dies while commands use its database: they continue until the next owner stops the orphaned PostgreSQL. Then
 *   they fail; what they committed stays.
 * - PostgreSQL crashes: its owner restarts it (`superviseServer`). Commands that used it fail, later ones wait.
 *
 * Rejected: commands that share the database of a command. It would have to stay until the last of them has ended, and
 * would block processes that need the directory alone.
 */
export interface OwnershipOptions<Found> {
  /** Uses the database of a serving owner; null if it does not respond. If absent, a server is rejected. */
  readonly joinServer?: () => Promise<Found | null>;
  /** Called once with the owner that the start waits for. */
  readonly onWait?: (owner: string) => void;
  readonly signal?: AbortSignal;
}

const waitMsMax = 60_000;
const rejectionMs = 1_000;
const retryDelayMs = 100;

/** Calls `start`, which acquires the lock, until it succeeds; joins a serving owner if possible. */
export async function withOwnership<Found>(
  start: () => Promise<Found>,
  { joinServer, onWait = () => {}, signal }: OwnershipOptions<Found>,
): Promise<Found> {
  let reported = false;
  let pid: string | null = null;
  let since = 0;
  for (;;) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof DirectoryLocked)) throw error;
      const { directory, owner } = error;
      const found = owner.state === 'serving' && (await joinServer?.());
      if (found) return found;
      const now = performance.now();
      if (owner.pid !== pid) [pid, since] = [owner.pid, now];
      const rejected = !joinServer && ['starting', 'serving'].includes(owner.state);
      if (rejected && now - since > rejectionMs) throw error;
      if (now - since > waitMsMax) throw new StartupFailure(timeoutMessage(directory, owner));
      if (!reported && !rejected && owner.state !== 'unknown') {
        reported = true;
        onWait(`${describeOwner(owner)} that uses the data directory ${directory}`);
      }
      await delay(retryDelayMs, undefined, { signal });
    }
  }
}

function timeoutMessage(directory: string, owner: LockOwner): string {
  const until = {
    serving: 'its database responds',
    starting: 'it has started',
    command: 'it has ended',
    unknown: 'it has ended',
  };
  return (
    `${describeOwner(owner)} has used the data directory ${directory} for ${waitMsMax / 1_000} seconds. ` +
    `Try again once ${until[owner.state]}.`
  ).replace(/^./, (letter) => letter.toUpperCase());
}

function describeOwner({ pid, state }: LockOwner): string {
  const kinds = {
    serving: 'the server',
    starting: 'the server',
    command: 'the command',
    unknown: 'another process',
  };
  return `${kinds[state]} (pid ${pid})`;
}
