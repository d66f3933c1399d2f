import { execFile } from 'node:child_process';
import {
  access,
  chmod,
  chown,
  lstat,
  mkdtemp,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { StartupFailure } from '../../core/startup-failure.ts';
import { type Account, canEnter, changeOwner } from './account.ts';
import { type Binaries, bareEnvironment } from './binaries.ts';
import { syncDirectory } from './secret-file.ts';

const run = promisify(execFile);

/**
 * The path of the cluster: the directory `postgres` of the data directory. If the account cannot enter it, `postgres` is a
 * symbolic link to a directory in root's shared directory.
 */
export async function locateCluster(
  dataDir: string,
  account: Account | null,
  sharedDir: () => Promise<string>,
): Promise<string> {
  const entry = join(dataDir, 'postgres');
  const found = await lstat(entry).catch(() => null);
  const cluster = found?.isSymbolicLink() ? resolve(dataDir, await readlink(entry)) : entry;
  const parent = dirname(cluster);
  if (!(await stat(parent).catch(() => null))) {
    throw new StartupFailure(`${entry} points to ${cluster}, but ${parent} does not exist.`);
  }
  if (account === null || (await canEnter(account, parent))) return cluster;
  if (found) {
    throw new StartupFailure(
      `PostgreSQL runs as uid ${account.uid}, which cannot enter ${parent}. Make its parent directories passable ` +
        '(chmod o+x), move the data directory, or start Cueline as another user.',
    );
  }
  const directory = await mkdtemp(join(await sharedDir(), 'data-'));
  await chmod(directory, 0o711);
  // The link is created before the cluster: a start after a crash continues in the same directory.
  await symlink(join(directory, 'postgres'), entry);
  return join(directory, 'postgres');
}

/** Users may change these later in `postgresql.conf`. Settings that Cueline guarantees are passed at each start (server.ts). */
const initialSettings = {
  max_connections: '100',
  shared_buffers: '256MB',
  max_wal_size: '2GB',
  wal_compression: 'on',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** Creates the cluster if it does not exist, corrects its owner and mode, and returns its real path. */
export async function prepareCluster(
  cluster: string,
  options: { binaries: Binaries; account: Account | null; superuser: string; password: string },
): Promise<string> {
  const uid = options.account?.uid ?? process.getuid?.();
  const existing = await stat(cluster).catch(() => null);
  if (existing && !options.account && existing.uid !== uid) {
    throw new StartupFailure(
      `${cluster} belongs to uid ${existing.uid}. Start Cueline as that user or as root.`,
    );
  }
  await removePartialClusters(cluster);
  if (!(await exists(join(cluster, 'PG_VERSION')))) await create(cluster, options);
  const { uid: owner, mode } = await stat(cluster);
  if (options.account && owner !== uid) await changeOwner(options.account, cluster);
  if (mode & 0o077) await chmod(cluster, 0o700);
  return realpath(cluster);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Removes what starts left behind that crashed during `initdb`. */
async function removePartialClusters(cluster: string): Promise<void> {
  const parent = dirname(cluster);
  for (const name of await readdir(parent)) {
    if (!name.startsWith(`${basename(cluster)}.new-`)) continue;
    // The orphaned `initdb` may still write for a moment. The next start removes the rest.
    await rm(join(parent, name), { recursive: true, force: true, maxRetries: 5 }).catch(() => {});
  }
}

/** Runs `initdb` in a temporary directory and renames the result, so that the cluster is complete or absent. */
async function create(
  cluster: string,
  { binaries, account, superuser, password }: Parameters<typeof prepareCluster>[1],
): Promise<void> {
  const temporary = await mkdtemp(`${cluster}.new-`);
  const [data, passwordFile] = [join(temporary, 'data'), join(temporary, 'password')];
  try {
    await writeFile(passwordFile, password, { mode: 0o600 });
    if (account) {
      await chown(passwordFile, account.uid, account.gid);
      await chown(temporary, account.uid, account.gid);
    }
    const settings = Object.entries(initialSettings).flatMap(([name, to]) => [
      '--set',
      `${name}=${to}`,
    ]);
    // Text sorts by code point on every machine and in every version, so an upgrade never breaks an index.
    const locale = [
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
    ];
    // A password even on the socket: other programs may run as the same account.
    const access = ['-U', superuser, '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
    await run(
      binaries.initdb,
      ['-D', data, '--no-instructions', ...access, ...locale, ...settings],
      {
        cwd: '/',
        env: bareEnvironment,
        ...account,
      },
    );
    await rename(data, cluster);
    await syncDirectory(dirname(cluster));
  } catch (error) {
    const { code, message, stderr } = error as NodeJS.ErrnoException & { stderr?: string };
    const isOccupied = code === 'ENOTEMPTY' || code === 'EEXIST';
    const reason = isOccupied ? 'the directory exists and is not empty' : stderr?.trim() || message;
    throw new StartupFailure(`Creating the database in ${cluster} failed: ${reason}`, {
      cause: error,
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
