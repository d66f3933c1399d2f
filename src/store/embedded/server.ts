import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { StartupFailure } from '../../core/startup-failure.ts';
import { knock } from '../connection/connect.ts';
import type { Account } from './account.ts';
import { type Binaries, bareEnvironment } from './binaries.ts';
import { clearTheWay, end, port, socketDirPrefix } from './postmaster.ts';

/** A unix socket's path, of at most 103 bytes on macOS and 107 on Linux. */
const socketPathBytesMax = 103;

/**
 * Where the socket is: in the cluster, which only its owner and root can enter, else in a folder of the same kind
 * with a short name. Each such folder is new, so nobody can have laid one out for us.
 */
export async function placeSocket(cluster: string, account: Account | null): Promise<string> {
  const path = join(cluster, `.s.PGSQL.${port}`);
  if (Buffer.byteLength(path) <= socketPathBytesMax) return cluster;
  // Root's own temporary directory may be closed to the account.
  const directory = await mkdtemp(join(account ? '/tmp' : tmpdir(), socketDirPrefix));
  if (account) await chown(directory, account.uid, account.gid);
  return directory;
}

export interface Launch {
  readonly binaries: Binaries;
  readonly account: Account | null;
  readonly cluster: string;
  readonly socketDir: string;
  /** What to knock with: it is up once this gets in. */
  readonly superuser: pg.ClientConfig;
  /** Gives up on a start under way. */
  readonly signal: AbortSignal;
  readonly onLog: (line: string) => void;
}

/** A PostgreSQL that is up, as our child. */
export interface Server {
  /** Resolves, once it has ended, to how. */
  readonly ended: Promise<string>;
  end(): Promise<void>;
}

/** Starts PostgreSQL and waits until it lets us in; throws a `StartupFailure` with its own words where it ends instead. */
export async function launch(options: Launch): Promise<Server> {
  // Backends of a killed postmaster live on for an instant, and a new one rightly waits for them to be gone.
  const stillThere = /pre-existing shared memory block|"postmaster.pid" already exists/;
  for (let tries = 1; ; tries++) {
    try {
      await clearTheWay(options.cluster, options.socketDir, options.onLog);
      return await launchOnce(options);
    } catch (error) {
      const { message } = error as Error;
      if (!stillThere.test(message) || tries === 50 || options.signal.aborted) throw error;
      await delay(200);
    }
  }
}

async function launchOnce({ onLog, signal, superuser, ...options }: Launch): Promise<Server> {
  const child = spawn(
    options.binaries.postgres,
    serverArguments(options.cluster, options.socketDir),
    {
      cwd: '/',
      env: bareEnvironment,
      stdio: ['ignore', 'ignore', 'pipe'],
      // A process group of its own: the terminal's Ctrl-C is for us, and we end it last.
      detached: true,
      ...options.account,
    },
  );
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4_000);
  });
  const silent = once(child, 'close').catch(() => {});
  const state = watch(child);
  let nextWordAt = performance.now() + 5_000;
  let pauseMs = 15;
  while (!state.how) {
    if (signal.aborted) {
      await state.end();
      throw new StartupFailure('PostgreSQL was stopped while it started.');
    }
    const refusal = await knock(superuser);
    if (refusal === null) return { ended: state.ended, end: state.end };
    if (!isStarting(refusal)) {
      await state.end();
      throw new StartupFailure(explain(refusal), { cause: refusal });
    }
    if (performance.now() > nextWordAt) {
      onLog('PostgreSQL is still starting: after a crash it first replays its log');
      nextWordAt += 10_000;
    }
    await delay(pauseMs);
    pauseMs = Math.min(pauseMs * 1.2, 250);
  }
  // Its last words may still be under way, but not for long.
  await Promise.race([silent, delay(500)]);
  const words = lastWords(said) || lastWords(await readLog(options.cluster)) || said.trim();
  throw new StartupFailure(`PostgreSQL did not start (${state.how}). ${words}`);
}

/** Why it gave up, as it put it. */
function lastWords(log: string): string {
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

/** The promises, whatever stands in `postgresql.conf`: durable, local, and a log of at most a week. */
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

interface Watched extends Server {
  /** How it ended; `null` while it lives. */
  readonly how: string | null;
}

function watch(child: ChildProcess): Watched {
  let how: string | null = null;
  // Should this process end in any way it can still notice, PostgreSQL is not left behind.
  const last = () => child.kill('SIGINT');
  process.once('exit', last);
  const ended = once(child, 'exit').then(
    ([code, signal]) => (signal ? `signal ${signal}` : `exit code ${code}`),
    (error: Error) => error.message,
  );
  const noted = ended.then((text) => {
    how = text;
    process.off('exit', last);
    return text;
  });
  return {
    ended: noted,
    end: () =>
      end(
        (signal) => child.kill(signal),
        () => how !== null,
      ),
    get how() {
      return how;
    },
  };
}

/** No socket yet, nobody at it, no answer in time, or «the database system is starting up». */
function isStarting(refusal: Error & { code?: string }): boolean {
  const { code } = refusal;
  return (
    code === undefined || ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P03'].includes(code)
  );
}

function explain(refusal: Error & { code?: string }): string {
  if (refusal.code !== '28P01') return `PostgreSQL started, but lets nobody in: ${refusal.message}`;
  return (
    'The password in the file postgres.password of the data directory is not the one the database was made with: ' +
    'bring the file back from where the data directory came from.'
  );
}
