import { execFile } from 'node:child_process';
import { readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { StartupFailure } from '../../core/startup-failure.ts';

const run = promisify(execFile);

/** What PostgreSQL says of itself in `postmaster.pid`, which a killed one leaves there. */
export interface Postmaster {
  readonly pid: number;
  readonly socketDir: string;
}

export async function readPostmaster(cluster: string): Promise<Postmaster | null> {
  const text = await readFile(pidFile(cluster), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const lines = text.split('\n');
  const pid = Number.parseInt(lines[0] ?? '', 10);
  return pid > 0 ? { pid, socketDir: lines[4] ?? '' } : null;
}

/**
 * Makes way for a start; only for the holder of the lock. A PostgreSQL that a killed Cueline left running is ended, not
 * adopted: that takes a moment, and whoever we run is then always our child, with the settings and the program of today.
 */
export async function clearTheWay(
  cluster: string,
  socketDir: string,
  onLog: (line: string) => void,
): Promise<void> {
  const left = await readPostmaster(cluster);
  if (!left) return;
  if (await livesIn(left.pid, cluster)) {
    onLog(`A PostgreSQL (pid ${left.pid}) left behind by a killed Cueline is being stopped`);
    await end(
      (signal) => process.kill(left.pid, signal),
      async () => !(await livesIn(left.pid, cluster)),
    );
  }
  if (exists(left.pid)) await disown(cluster, left);
  if (left.socketDir !== socketDir && isOwnSocketDir(left.socketDir)) {
    await rm(left.socketDir, { recursive: true, force: true });
  }
}

/** Fast shutdown; where that does not end it, immediate; at last the kill, which costs a recovery. */
export async function end(
  send: (signal: NodeJS.Signals) => void,
  gone: () => boolean | Promise<boolean>,
): Promise<void> {
  for (const [signal, waitMs] of [
    ['SIGINT', 10_000],
    ['SIGQUIT', 5_000],
    ['SIGKILL', 5_000],
  ] as const) {
    try {
      send(signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    const until = performance.now() + waitMs;
    do {
      if (await gone()) return;
      await delay(10);
    } while (performance.now() < until);
  }
  throw new StartupFailure('PostgreSQL does not end, not even on SIGKILL.');
}

/** Without TCP the port is only a part of the socket's name. */
export const port = 5432;

/** A socket directory of our making outside of the cluster: see server.ts. */
export const socketDirPrefix = 'cueline-';

function isOwnSocketDir(path: string): boolean {
  return /\/cueline-[A-Za-z0-9]{6}$/.test(path);
}

/** Whether that process is a PostgreSQL of this cluster, and not one that was given the same number later. */
async function livesIn(pid: number, cluster: string): Promise<boolean> {
  try {
    // PostgreSQL works in its data directory. A zombie has none, so it counts as gone.
    if (process.platform === 'linux') return (await readlink(`/proc/${pid}/cwd`)) === cluster;
    const { stdout } = await run('ps', ['-o', 'command=', '-p', String(pid)]);
    return stdout.includes(`-D ${cluster}`);
  } catch {
    return false;
  }
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * PostgreSQL does not start while the process that its left-behind files name exists, be it a zombie that nobody
 * collects (in a container) or another's by now. The file of the cluster is not removed: the shared memory key in it
 * still guards against backends that outlived their postmaster.
 */
async function disown(cluster: string, left: Postmaster): Promise<void> {
  const text = await readFile(pidFile(cluster), 'utf8').catch(() => null);
  const noProcess = 2_147_483_647;
  if (text) await writeFile(pidFile(cluster), text.replace(/^\d+/, String(noProcess)));
  if (left.socketDir) await rm(join(left.socketDir, `.s.PGSQL.${port}.lock`), { force: true });
}

function pidFile(cluster: string): string {
  return join(cluster, 'postmaster.pid');
}
