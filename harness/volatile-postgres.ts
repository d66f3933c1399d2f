import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { realpath, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { tryConnect } from '../src/db/connect.ts';
import { accountFor } from '../src/db/embedded/account.ts';
import { bareEnvironment, findBinaries, packagedNative } from '../src/db/embedded/binaries.ts';
import { chooseSocketDir } from '../src/db/embedded/embedded-server.ts';
import { port, terminate } from '../src/db/embedded/postmaster.ts';
import { defaultSharedDir, openSharedDir } from '../src/db/embedded/shared-directory.ts';

/**
 * The embedded PostgreSQL without durability. Test databases end with their tests, so nothing has to survive a crash.
 * Each copy of the template is a checkpoint, after which a durable PostgreSQL logs every page as a whole once more.
 */

const settings = {
  fsync: 'off',
  full_page_writes: 'off',
  listen_addresses: '',
  port: String(port),
  checkpoint_timeout: '1h',
  max_wal_size: '8GB',
};

/** Runs an existing cluster. `connection` is that of an earlier start. */
export async function startVolatile(path: string, connection: pg.ClientConfig) {
  const cluster = await realpath(path);
  const account = await accountFor(cluster);
  const binaries = await findBinaries(packagedNative(), account, async () => {
    if (!account) throw new Error('only root needs a shared directory');
    return openSharedDir(defaultSharedDir, account);
  });
  const socketDir = await chooseSocketDir(cluster, account);
  const values = Object.entries({ ...settings, unix_socket_directories: socketDir });
  const child = spawn(
    binaries.postgres,
    ['-D', cluster, ...values.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    // Its own process group, so that Ctrl-C ends it after the tests.
    { cwd: '/', env: bareEnvironment, stdio: 'ignore', detached: true, ...account },
  );
  let ended = false;
  const stopWithProcess = () => child.kill('SIGINT');
  process.once('exit', stopWithProcess);
  void once(child, 'exit').finally(() => {
    ended = true;
    process.off('exit', stopWithProcess);
  });
  const stop = async () => {
    await terminate(
      (signal) => child.kill(signal),
      () => ended,
    );
    if (socketDir !== cluster) await rm(socketDir, { recursive: true, force: true });
  };
  const started = { ...connection, host: socketDir };
  while (!ended) {
    if ((await tryConnect(started)) === null) return { connection: started, stop };
    await delay(15);
  }
  throw new Error(`PostgreSQL did not start in ${cluster}.`);
}
