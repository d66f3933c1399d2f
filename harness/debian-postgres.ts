import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type pg from 'pg';
import { connectToDatabase } from '../src/db/connect.ts';
import { accountFor, changeOwner } from '../src/db/embedded/account.ts';
import { bareEnvironment } from '../src/db/embedded/binaries.ts';
import { runAsAdmin } from './cluster.ts';

/** PostgreSQL of a Debian package, which includes `pg_dump` and `pg_restore`, unlike the npm package. */

const installed = '/usr/lib/postgresql';

/** The folder of the programs of the latest installed version, or `null`. */
export function debianPostgres(): string | null {
  if (!existsSync(installed)) return null;
  const versions = readdirSync(installed).filter((name) =>
    existsSync(join(installed, name, 'bin', 'pg_dump')),
  );
  const latest = versions.sort((a, b) => Number(b) - Number(a))[0];
  return latest === undefined ? null : join(installed, latest, 'bin');
}

export interface DebianServer {
  /** Its directory, where a test may put its own files. */
  readonly directory: string;
  /** Connects to its own empty database. */
  readonly connection: pg.ClientConfig;
  readonly admin: pg.ClientConfig;
  stop(): Promise<void>;
}

export async function startDebian(bin: string): Promise<DebianServer> {
  const directory = await mkdtemp(join(tmpdir(), 'cueline-test-'));
  await chmod(directory, 0o755);
  const data = join(directory, 'data');
  await mkdir(data, { mode: 0o700 });
  const account = await accountFor(data);
  if (account) await changeOwner(account, data);
  const options = { cwd: '/', env: bareEnvironment, ...account };
  const settings = ['--encoding=UTF8', '--locale=C.UTF-8', '--auth=trust', '--no-sync'];
  await promisify(execFile)(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', ...settings],
    options,
  );
  const server = spawn(
    join(bin, 'postgres'),
    [
      '-D',
      data,
      '-c',
      'listen_addresses=',
      '-c',
      `unix_socket_directories=${data}`,
      '-c',
      'fsync=off',
    ],
    { ...options, stdio: 'ignore' },
  );
  const ended = once(server, 'exit');
  const stop = async () => {
    server.kill('SIGINT');
    await ended;
    await rm(directory, { recursive: true, force: true });
  };
  const admin = { host: data, port: 5432, user: 'postgres', password: '', database: 'postgres' };
  try {
    const signal = AbortSignal.timeout(60_000);
    await connectToDatabase(admin, { withinMs: 60_000, signal, onWait() {} });
    await runAsAdmin(admin, 'create role cueline login');
    await runAsAdmin(admin, 'create database cueline owner cueline');
    return {
      directory,
      connection: { ...admin, user: 'cueline', database: 'cueline' },
      admin,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
