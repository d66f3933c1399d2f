import { setTimeout as delay } from 'node:timers/promises';
import { StartupFailure } from '../../core/startup-failure.ts';
import { Held, type Holder } from './lock.ts';

/**
 * Who has the embedded database, who may use it beside them, and who ends it.
 *
 * Whoever starts PostgreSQL holds the lock of the data directory from before that until after PostgreSQL has ended, and
 * nobody else ever ends it. `as` what the lock is held tells the others what to do:
 *
 *     held as      a server that comes          a command that comes
 *     nothing      takes it                     takes it, and starts PostgreSQL for itself alone
 *     starting     is refused                   waits
 *     serving      is refused                   uses the database of the server
 *     command      waits                        waits: the database ends with the command that started it
 *
 * Nobody waits longer than `turnMs` for one and the same holder. A refused server, and a command that must have the
 * database to itself (`secrets rotate`), look on for `refusalMs`: the file may still name a holder before this one.
 *
 * What when one of them ends early, by `kill -9` as well:
 *
 * - Whoever holds the lock: the kernel gives it free. The next holder ends the PostgreSQL that was left running before
 *   it starts its own (`clearTheWay`), and those that wait go on in turn.
 * - A command beside a server: PostgreSQL rolls back what it had not committed. Nobody else is concerned.
 * - A server with commands beside it: they go on while its PostgreSQL lives, that is until the server, or after a kill
 *   the next holder, ends it. A command that is cut off so fails, with what it had committed and no more.
 * - PostgreSQL itself: its holder starts it again (`keepUp`). Commands beside it fail likewise, later ones wait.
 *
 * Rejected: commands that use the database of a command, which would have to stay until the last of them is gone, and
 * keep out whoever must have the directory alone.
 */
export interface Turn<Found> {
  /** What there is beside a server that is up; `null` where it does not answer. Without it a server is in the way. */
  readonly besideServer?: () => Promise<Found | null>;
  /** Told once, where others have to be waited for. */
  readonly onWait?: (whom: string) => void;
  readonly signal?: AbortSignal;
}

const turnMs = 60_000;
const refusalMs = 1_000;
const pauseMs = 100;

/** Attempts it, again and again while another holds the lock that it takes. */
export async function inTurn<Found>(
  attempt: () => Promise<Found>,
  { besideServer, onWait = () => {}, signal }: Turn<Found>,
): Promise<Found> {
  let told = false;
  let pid: string | null = null;
  let since = 0;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Held)) throw error;
      const { directory, holder } = error;
      const found = holder.as === 'serving' && (await besideServer?.());
      if (found) return found;
      const now = performance.now();
      if (holder.pid !== pid) [pid, since] = [holder.pid, now];
      const refused = !besideServer && ['starting', 'serving'].includes(holder.as);
      if (refused && now - since > refusalMs) throw error;
      if (now - since > turnMs) throw new StartupFailure(givenUp(directory, holder));
      if (!told && !refused && holder.as !== 'unknown') {
        told = true;
        onWait(`${named(holder)} that holds the data directory ${directory}`);
      }
      await delay(pauseMs, undefined, { signal });
    }
  }
}

function givenUp(directory: string, holder: Holder): string {
  const until = {
    serving: 'its database answers',
    starting: 'it is up',
    command: 'it has ended',
    unknown: 'it has ended',
  };
  return (
    `The data directory ${directory} has been held by ${named(holder)} for ${turnMs / 1_000} seconds. ` +
    `Try again once ${until[holder.as]}.`
  );
}

function named({ pid, as }: Holder): string {
  const kinds = {
    serving: 'the server',
    starting: 'the server',
    command: 'the command',
    unknown: 'another process',
  };
  return `${kinds[as]} (pid ${pid})`;
}
