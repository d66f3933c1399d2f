import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type pg from 'pg';
import { inherited } from '../../harness/environment.ts';

const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts');

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  interrupt(): void;
  /** Stops reading standard output. */
  closeStdout(): void;
  readonly ended: Promise<CommandResult>;
}

/** Starts the command as a user would, with only the given environment. */
export function spawnCommand(
  args: readonly string[],
  env: Record<string, string>,
  input: string | Uint8Array = '',
  cwd?: string,
): RunningCommand {
  const child = spawn(process.execPath, [main, ...args], {
    ...(cwd !== undefined && { cwd }),
    env: { ...inherited('/usr/bin:/bin'), ...env },
    timeout: 100_000,
  });
  child.stdin.on('error', () => {}).end(input);
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
    });
  }
  const ended = once(child, 'close').then(([code]) => ({ code, ...text }));
  return {
    interrupt: () => void child.kill('SIGINT'),
    closeStdout: () => void child.stdout.destroy(),
    ended,
  };
}

export function cueline(
  args: readonly string[],
  env: Record<string, string>,
  input?: string | Uint8Array,
): Promise<CommandResult> {
  return spawnCommand(args, env, input).ended;
}

/** Environment of a command that uses a test's database, which listens on a socket. */
export function onDatabase(connection: pg.ClientConfig): Record<string, string> {
  const { host = '', port = 5432, user, password, database } = connection;
  const at = new URLSearchParams({ host, port: String(port) });
  return { DATABASE_URL: `postgres://${user}:${password}@/${database}?${at}` };
}

/** Parses the JSON lines of the output. */
export function jsonLines({ stdout }: CommandResult) {
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}
