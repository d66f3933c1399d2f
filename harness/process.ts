import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type pg from 'pg';
import { inherited } from './environment.ts';
import { onInterruption } from './interruption.ts';

/** A Cueline process on a test's database, which a test may kill. */
export interface CuelineProcess {
  readonly child: ChildProcess;
  /** Its base URL; empty for a worker without a port. */
  readonly url: string;
  /** Everything written so far to standard output and standard error. */
  output(): { readonly said: string; readonly logged: string };
  /** Sends the signal and waits for the exit. */
  kill(signal: NodeJS.Signals): Promise<void>;
}

const ownMain = join(import.meta.dirname, '..', 'src', 'main.ts');

export async function spawnCueline(
  role: 'start' | 'api' | 'worker',
  connection: pg.ClientConfig,
  env: Record<string, string> = {},
  nodeOptions: readonly string[] = [],
  main = ownMain,
): Promise<CuelineProcess> {
  // Without this flag, the process would start itself a second time, which is slow.
  const flags = ['--no-memory-reducer', ...nodeOptions];
  const child = spawn(process.execPath, [...flags, main, role], {
    env: {
      ...inherited(),
      DATABASE_URL: databaseUrl(connection),
      CUELINE_SECRET: 'a secret that is used only by tests',
      CUELINE_LEASE_MS: '600',
      // A fast machine must not reach it by accident.
      CUELINE_MANAGE_PER_MINUTE: '1000000',
      PORT: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.once(
    'exit',
    onInterruption(() => child.kill('SIGKILL')),
  );
  let said = '';
  let logged = '';
  const up = Promise.withResolvers<void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    // The last line that it prints at startup.
    if (/Ctrl-C/.test(said)) up.resolve();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    logged += text;
  });
  child.once('exit', (code) =>
    up.reject(new Error(`cueline ${role} ended with ${code}: ${said}${logged}`)),
  );
  up.promise.catch(() => {});
  await up.promise;
  return {
    child,
    output: () => ({ said, logged }),
    url: /http:\/\/[\d.:]+/.exec(said)?.[0] ?? '',
    async kill(signal) {
      if (hasEnded(child)) return;
      const exited = once(child, 'exit');
      child.kill(signal);
      await exited;
    },
  };
}

export function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** The connection as a `DATABASE_URL`, with the settings that tests use. */
export function databaseUrl(connection: pg.ClientConfig): string {
  const { host = 'localhost', port = 5432, user, password, database } = connection;
  const secret = typeof password === 'string' ? `:${encodeURIComponent(password)}` : '';
  const socket = host.startsWith('/');
  const { application_name: name, statement_timeout: timeout } = connection;
  const query = new URLSearchParams({
    ...(socket && { host, port: String(port) }),
    ...(name && { application_name: name }),
    ...(timeout && { statement_timeout: String(timeout) }),
  });
  const url = `postgres://${user}${secret}@${socket ? '' : `${host}:${port}`}/${database}`;
  return query.size > 0 ? `${url}?${query}` : url;
}
