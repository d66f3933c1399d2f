import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { connectToDatabase } from '../src/db/connect.ts';
import { openDatabase } from '../src/db/database.ts';
import { type Account, accountFor, changeOwner } from '../src/db/embedded/account.ts';
import { bareEnvironment } from '../src/db/embedded/binaries.ts';
import { migrate } from '../src/db/migrations/migrate.ts';
import { runAsAdmin } from './cluster.ts';
import { onInterruption } from './interruption.ts';

/** A primary and a standby that follows it, from the Debian package: the package of npm has no `pg_basebackup`. */
export interface Replication {
  readonly primary: ReplicationServer;
  readonly standby: ReplicationServer;
  /** A URL that names both servers, in this order. */
  url(query?: string): string;
  stop(): Promise<void>;
}

export interface ReplicationServer {
  /** Cueline's migrated database. */
  readonly connection: pg.ClientConfig;
  readonly url: string;
  /** As superuser in Cueline's database. */
  query<Row extends pg.QueryResultRow>(text: string): Promise<Row[]>;
  /** The standby becomes the primary. */
  promote(): Promise<void>;
  /** Ends all its processes at once. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

export async function startReplication(bin: string): Promise<Replication> {
  const directory = await mkdtemp(join(tmpdir(), 'cueline-test-'));
  await chmod(directory, 0o755);
  const account = await accountFor(join(directory, 'primary'));
  const servers = { primary: join(directory, 'primary'), standby: join(directory, 'standby') };
  for (const socket of Object.values(servers)) {
    await mkdir(join(socket, 'data'), { recursive: true });
    await chmod(join(socket, 'data'), 0o700);
    if (account)
      for (const path of [socket, join(socket, 'data')]) await changeOwner(account, path);
  }
  const run = (program: string, ...values: string[]) =>
    promisify(execFile)(join(bin, program), values, { cwd: '/', env: bareEnvironment, ...account });
  const settings = ['--encoding=UTF8', '--locale=C.UTF-8', '--auth=trust', '--no-sync'];
  await run('initdb', '-D', join(servers.primary, 'data'), '-U', 'postgres', ...settings);
  const primary = server(bin, servers.primary, account);
  const standby = server(bin, servers.standby, account);
  const stop = async () => {
    await Promise.all([primary.kill(), standby.kill()]);
    await rm(directory, { recursive: true, force: true });
    ignoreInterruption();
  };
  const ignoreInterruption = onInterruption(stop);
  try {
    await primary.start();
    const admin = { ...primary.connection, user: 'postgres', database: 'postgres' };
    await runAsAdmin(admin, 'create role cueline login');
    await runAsAdmin(admin, 'create database cueline owner cueline');
    await migrateAt(primary.connection);
    const source = ['-h', servers.primary, '-U', 'postgres', '-D', join(servers.standby, 'data')];
    await run(
      'pg_basebackup',
      ...source,
      '--write-recovery-conf',
      '--checkpoint=fast',
      '--no-sync',
    );
    await standby.start();
  } catch (error) {
    await stop();
    throw error;
  }
  const url = (query = '') => {
    const hosts = encodeURIComponent(`${servers.primary},${servers.standby}`);
    return `postgres://cueline@/cueline?host=${hosts}&port=5432${query && `&${query}`}`;
  };
  return { primary, standby, url, stop };
}

async function migrateAt(connection: pg.ClientConfig): Promise<void> {
  const db = openDatabase({ connection, poolMax: 1, onError: () => {} });
  try {
    await migrate(db);
  } finally {
    await db.destroy();
  }
}

/** The socket is beside the data, because a backup would copy its lock file. */
function server(bin: string, socket: string, account: Account | null): ReplicationServer {
  const connection = {
    host: socket,
    port: 5432,
    user: 'cueline',
    password: '',
    database: 'cueline',
  };
  let child: ChildProcess | null = null;
  const query = async <Row extends pg.QueryResultRow>(text: string) => {
    const client = new pg.Client({ ...connection, user: 'postgres' });
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    connection,
    url: `postgres://cueline@/cueline?host=${encodeURIComponent(socket)}`,
    query,
    async promote() {
      await query('select pg_promote(true, 60)');
    },
    async kill() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      // The postmaster ends its processes at once, without a checkpoint.
      child.kill('SIGQUIT');
      await exit;
    },
    async start() {
      const settings = {
        listen_addresses: '',
        // Tells a test which server it reached.
        cluster_name: basename(socket),
        unix_socket_directories: socket,
        fsync: 'off',
        wal_receiver_status_interval: '1s',
        wal_retrieve_retry_interval: '100ms',
      };
      const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      const options = { cwd: '/', env: bareEnvironment, stdio: 'ignore' as const, ...account };
      child = spawn(join(bin, 'postgres'), ['-D', join(socket, 'data'), ...args], options);
      const admin = { ...connection, user: 'postgres', database: 'postgres' };
      const signal = AbortSignal.timeout(60_000);
      await connectToDatabase(admin, { withinMs: 60_000, signal, onWait() {} });
    },
  };
}
