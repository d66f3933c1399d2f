import { execFile } from 'node:child_process';
import { readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { StartupFailure } from '../../core/startup-failure.ts';

const run = promisify(execFile);

/** The content of `postmaster.pid`. A killed PostgreSQL leaves the file behind. */
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
 * Stops a PostgreSQL that a killed Cueline left running, and removes what it left behind. Needs the lock. Rejected: adopting
 * it. Stopping takes a moment, but then PostgreSQL is always our child process, with the current settings and binary.
 */
export async function stopOrphan(
  cluster: string,
  socketDir: string,
  onLog: (line: string) => void,
): Promise<void> {
  const orphan = await readPostmaster(cluster);
  if (!orphan) return;
  if (await isPostmasterOf(orphan.pid, cluster)) {
    onLog(`Stopping the PostgreSQL (pid ${orphan.pid}) of a killed Cueline`);
    await terminate(
      (signal) => process.kill(orphan.pid, signal),
      async () => !(await isPostmasterOf(orphan.pid, cluster)),
    );
  }
  if (processExists(orphan.pid)) await invalidatePidFiles(cluster, orphan);
  if (orphan.socketDir !== socketDir && isTemporarySocketDir(orphan.socketDir)) {
    await rm(orphan.socketDir, { recursive: true, force: true });
  }
}

/** Tries a fast shutdown, then an immediate one, then SIGKILL. The last two require a recovery at the next start. */
export async function terminate(
  send: (signal: NodeJS.Signals) => void,
  hasEnded: () => boolean | Promise<boolean>,
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
      if (await hasEnded()) return;
      await delay(10);
    } while (performance.now() < until);
  }
  throw new StartupFailure('PostgreSQL does not end, not even after SIGKILL.');
}

/** Part of the socket's file name. PostgreSQL does not listen on TCP. */
export const port = 5432;

/** The name prefix of a socket directory outside the cluster (see server.ts). */
export const socketDirPrefix = 'cueline-';

function isTemporarySocketDir(path: string): boolean {
  return /\/cueline-[A-Za-z0-9]{6}$/.test(path);
}

/** Whether the process is the PostgreSQL of this cluster. The kernel may have reused the pid. */
async function isPostmasterOf(pid: number, cluster: string): Promise<boolean> {
  try {
    // The working directory of PostgreSQL is its data directory. A zombie has none, so it counts as ended.
    if (process.platform === 'linux') return (await readlink(`/proc/${pid}/cwd`)) === cluster;
    const { stdout } = await run('ps', ['-o', 'command=', '-p', String(pid)]);
    return stdout.includes(`-D ${cluster}`);
  } catch {
    return false;
  }
}

function processExists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * PostgreSQL does not start while the process named in leftover files exists, be it a zombie that nobody reaps (in a
 * container) or an unrelated process. `postmaster.pid` stays in place with an impossible pid: its shared memory key still
 * protects against backends that outlived their postmaster.
 */
async function invalidatePidFiles(cluster: string, orphan: Postmaster): Promise<void> {
  const text = await readFile(pidFile(cluster), 'utf8').catch(() => null);
  const impossiblePid = 2_147_483_647;
  if (text) await writeFile(pidFile(cluster), text.replace(/^\d+/, String(impossiblePid)));
  if (orphan.socketDir) {
    await rm(join(orphan.socketDir, `.s.PGSQL.${port}.lock`), { force: true });
  }
}

function pidFile(cluster: string): string {
  return join(cluster, 'postmaster.pid');
}
