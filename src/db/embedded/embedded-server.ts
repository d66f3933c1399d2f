import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { StartupFailure } from '../../core/startup-failure.ts';
import { tryConnect } from '../connect.ts';
import type { Account } from './account.ts';
import { type Binaries, bareEnvironment } from './binaries.ts';
import { port, socketDirPrefix, stopOrphan, terminate } from './postmaster.ts';

/** The maximum length of a unix socket path: 103 bytes on macOS, 107 on Linux. */
const socketPathBytesMax = 103;

/**
 * Returns the directory for the socket: the cluster, which only its owner and root can enter. If its path is too long, a new
 * temporary directory with the same permissions; nobody else can have prepared it.
 */
export async function chooseSocketDir(cluster: string, account: Account | null): Promise<string> {
  const path = join(cluster, `.s.PGSQL.${port}`);
  if (Buffer.byteLength(path) <= socketPathBytesMax) return cluster;
  // The account may be unable to enter root's own temporary directory.
  const directory = await mkdtemp(join(account ? '/tmp' : tmpdir(), socketDirPrefix));
  if (account) await chown(directory, account.uid, account.gid);
  return directory;
}

export interface LaunchOptions {
  readonly binaries: Binaries;
  readonly account: Account | null;
  readonly cluster: string;
  readonly socketDir: string;
  /** PostgreSQL has started once this connection succeeds. */
  readonly superuser: pg.ClientConfig;
  /** Aborts the start. */
  readonly signal: AbortSignal;
  readonly onLog: (line: string) => void;
}

/** A running PostgreSQL, as our child process. */
export interface Server {
  /** Resolves to how it ended. */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
}

/** Starts PostgreSQL and waits until it accepts connections. Throws a `StartupFailure` with PostgreSQL's message if it fails. */
export async function launch(options: LaunchOptions): Promise<Server> {
  // Backends of a killed postmaster survive for a moment, and a new postmaster refuses to start until they have ended.
  const backendsRemain = /pre-existing shared memory block|"postmaster.pid" already exists/;
  for (let tries = 1; ; tries++) {
    try {
      await stopOrphan(options.cluster, options.socketDir, options.onLog);
      return await launchOnce(options);
    } catch (error) {
      const { message } = error as Error;
      if (!backendsRemain.test(message) || tries === 50 || options.signal.aborted) throw error;
      await delay(200);
    }
  }
}

async function launchOnce({
  onLog,
  signal,
  superuser,
  ...options
}: LaunchOptions): Promise<Server> {
  const child = spawn(
    options.binaries.postgres,
    serverArguments(options.cluster, options.socketDir),
    {
      cwd: '/',
      env: bareEnvironment,
      stdio: ['ignore', 'ignore', 'pipe'],
      // Its own process group: Ctrl-C in the terminal must not reach it, because we stop it last.
      detached: true,
      ...options.account,
    },
  );
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-4_000);
  });
  const stderrClosed = once(child, 'close').catch(() => {});
  const server = watch(child);
  let nextReportAt = performance.now() + 5_000;
  let retryDelayMs = 15;
  while (!server.exit) {
    if (signal.aborted) {
      await server.stop();
      throw new StartupFailure('The start of PostgreSQL was aborted.');
    }
    const refusal = await tryConnect(superuser);
    if (refusal === null) return { exited: server.exited, stop: server.stop };
    if (!isStarting(refusal)) {
      await server.stop();
      throw new StartupFailure(explain(refusal), { cause: refusal });
    }
    if (performance.now() > nextReportAt) {
      onLog('PostgreSQL is still starting; after a crash it replays its log first');
      nextReportAt += 10_000;
    }
    await delay(retryDelayMs);
    retryDelayMs = Math.min(retryDelayMs * 1.2, 250);
  }
  // Its last output may still be in the pipe.
  await Promise.race([stderrClosed, delay(500)]);
  const reason = errorsIn(stderr) || errorsIn(await readLog(options.cluster)) || stderr.trim();
  throw new StartupFailure(`PostgreSQL did not start (${server.exit}). ${reason}`);
}

/** The error lines since the last start. */
function errorsIn(log: string): string {
  const start = log.slice(Math.max(0, log.lastIndexOf('starting PostgreSQL')));
  const lines = start.split('\n').filter((line) => /FATAL|PANIC|could not/.test(line));
  return lines.slice(-5).join('\n');
}

async function readLog(cluster: string): Promise<string> {
  try {
    const current = await readFile(join(cluster, 'current_logfiles'), 'utf8');
    return await readFile(join(cluster, current.trim().split(' ').at(-1) ?? ''), 'utf8');
  } catch {
    return '';
  }
}

/** Settings that Cueline guarantees, whatever `postgresql.conf` says: durable, local, and at most a week of logs. */
function serverArguments(cluster: string, socketDir: string): string[] {
  const settings = {
    listen_addresses: '',
    port: String(port),
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    ssl: 'off',
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    logging_collector: 'on',
    log_directory: 'log',
    log_filename: 'postgresql-%a.log',
    log_rotation_age: '1d',
    log_rotation_size: '0',
    log_truncate_on_rotation: 'on',
    log_checkpoints: 'off',
  };
  const pairs = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return ['-D', cluster, ...pairs];
}

interface WatchedServer extends Server {
  /** How it ended; null while it runs. */
  readonly exit: string | null;
}

function watch(child: ChildProcess): WatchedServer {
  let exit: string | null = null;
  // Stops PostgreSQL with this process, unless a signal kills it.
  const stopWithProcess = () => child.kill('SIGINT');
  process.once('exit', stopWithProcess);
  const exited = once(child, 'exit')
    .then(
      ([code, signal]) => (signal ? `signal ${signal}` : `exit code ${code}`),
      (error: Error) => error.message,
    )
    .then((how) => {
      exit = how;
      process.off('exit', stopWithProcess);
      return how;
    });
  return {
    exited,
    stop: () =>
      terminate(
        (signal) => child.kill(signal),
        () => exit !== null,
      ),
    get exit() {
      return exit;
    },
  };
}

/** No socket, no listener, no response in time, or "the database system is starting up". */
function isStarting(refusal: Error & { code?: string }): boolean {
  const { code } = refusal;
  return (
    code === undefined || ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P03'].includes(code)
  );
}

function explain(refusal: Error & { code?: string }): string {
  if (refusal.code !== '28P01')
    return `PostgreSQL started, but rejects the connection: ${refusal.message}`;
  return (
    'The password in the file postgres.password of the data directory does not match the database. ' +
    'Restore the file from the source of the data directory.'
  );
}
