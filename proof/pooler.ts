import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { freePort } from '../harness/free-port.ts';
import { onInterruption } from '../harness/interruption.ts';
import { tryConnect } from '../src/db/connect.ts';
import { accountFor } from '../src/db/embedded/account.ts';
import { startProxy } from './proxy.ts';

/** A real PgBouncer in transaction mode in front of a database. */
export interface Pooler {
  /** The database, through the pooler. */
  readonly connection: pg.ClientConfig;
  stop(): Promise<void>;
}

/** Null if it is installed. */
export function missingPooler(): string | null {
  return poolerVersion() === null ? 'pgbouncer is not installed: apt-get install pgbouncer' : null;
}

/** Null if it is not installed. */
export function poolerVersion(): string | null {
  try {
    return execFileSync('pgbouncer', ['--version'], { encoding: 'utf8' }).split('\n')[0] ?? null;
  } catch {
    return null;
  }
}

export async function startPooler(target: pg.ClientConfig): Promise<Pooler> {
  const directory = await mkdtemp(join(tmpdir(), 'cueline-pooler-'));
  // The pooler's account may not have access to the database's socket.
  const bridge = await startProxy(target);
  const port = await freePort();
  const { host, port: bridgePort, user, password, database } = bridge.connection;
  const config = `
    [databases]
    ${database} = host=${host} port=${bridgePort} user=${user} password=${password}
    [pgbouncer]
    listen_addr = 127.0.0.1
    listen_port = ${port}
    unix_socket_dir =
    auth_type = any
    pool_mode = transaction
    max_client_conn = 500
    default_pool_size = 8`;
  await writeFile(join(directory, 'pgbouncer.ini'), config.replaceAll(/^ +/gm, ''));
  // Like PostgreSQL, it refuses to run as root.
  await chmod(directory, 0o755);
  const account = await accountFor(directory);
  const child = spawn('pgbouncer', ['--quiet', 'pgbouncer.ini'], {
    cwd: directory,
    stdio: 'ignore',
    ...account,
  });
  child.once(
    'exit',
    onInterruption(() => child.kill('SIGKILL')),
  );
  const connection = { ...target, host: '127.0.0.1', port };
  while ((await tryConnect(connection)) !== null) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`);
    await wait(20);
  }
  return {
    connection,
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      await bridge.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
