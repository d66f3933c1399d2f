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
import { type Account, handOver, reaches } from './account.ts';
import { type Binaries, bareEnvironment } from './binaries.ts';
import { syncDirectory } from './secret-file.ts';

const run = promisify(execFile);

/**
 * Where PostgreSQL keeps its files: the folder `postgres` of the data directory, or, where the account of PostgreSQL
 * cannot get in there, a folder in root's shared place that `postgres` then points to as a symbolic link.
 */
export async function locateCluster(
  dataDir: string,
  account: Account | null,
  sharedDir: () => Promise<string>,
): Promise<string> {
  const entry = join(dataDir, 'postgres');
  const found = await lstat(entry).catch(() => null);
  const cluster = found?.isSymbolicLink() ? resolve(dataDir, await readlink(entry)) : entry;
  const home = dirname(cluster);
  if (!(await stat(home).catch(() => null))) {
    throw new StartupFailure(`${entry} points to ${cluster}, and ${home} is not there.`);
  }
  if (account === null || (await reaches(account, home))) return cluster;
  if (found) {
    throw new StartupFailure(
      `PostgreSQL runs as uid ${account.uid}, which cannot enter ${home}. Let others pass through the folders above ` +
        '(chmod o+x), move the data directory to where they may, or start Cueline as another user.',
    );
  }
  const away = await mkdtemp(join(await sharedDir(), 'data-'));
  await chmod(away, 0o711);
  // The pointer comes first: a start that dies from here on is continued in the same place.
  await symlink(join(away, 'postgres'), entry);
  return join(away, 'postgres');
}

/** What a user may change in `postgresql.conf` later; what is a promise is given at each start (server.ts). */
const initialSettings = {
  max_connections: '100',
  shared_buffers: '256MB',
  max_wal_size: '2GB',
  wal_compression: 'on',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** Makes the cluster where there is none, mends its owner and mode, and returns its real path. */
export async function prepareCluster(
  cluster: string,
  how: { binaries: Binaries; account: Account | null; superuser: string; password: string },
): Promise<string> {
  const ours = how.account?.uid ?? process.getuid?.();
  const before = await stat(cluster).catch(() => null);
  if (before && !how.account && before.uid !== ours) {
    throw new StartupFailure(
      `${cluster} belongs to the user with uid ${before.uid}: start Cueline as that user or as root.`,
    );
  }
  await removeHalfMade(cluster);
  if (!(await isThere(join(cluster, 'PG_VERSION')))) await create(cluster, how);
  const { uid, mode } = await stat(cluster);
  if (how.account && uid !== ours) await handOver(how.account, cluster);
  if (mode & 0o077) await chmod(cluster, 0o700);
  return realpath(cluster);
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** What starts left behind that died within `initdb`. */
async function removeHalfMade(cluster: string): Promise<void> {
  const home = dirname(cluster);
  for (const name of await readdir(home)) {
    if (!name.startsWith(`${basename(cluster)}.new-`)) continue;
    // Its `initdb` may outlive the start by a moment and still write; what remains goes the next time.
    await rm(join(home, name), { recursive: true, force: true, maxRetries: 5 }).catch(() => {});
  }
}

/** `initdb` works aside, and the whole is renamed into place: a cluster is never half there. */
async function create(
  cluster: string,
  { binaries, account, superuser, password }: Parameters<typeof prepareCluster>[1],
): Promise<void> {
  const aside = await mkdtemp(`${cluster}.new-`);
  const [data, passwordFile] = [join(aside, 'data'), join(aside, 'password')];
  try {
    await writeFile(passwordFile, password, { mode: 0o600 });
    if (account) {
      await chown(passwordFile, account.uid, account.gid);
      await chown(aside, account.uid, account.gid);
    }
    const settings = Object.entries(initialSettings).flatMap(([name, to]) => [
      '--set',
      `${name}=${to}`,
    ]);
    // Text sorts by code point, the same on every machine and in every version: no index breaks with an upgrade.
    const locale = [
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
    ];
    // A password even on the socket: the account may be one that other programs of this machine run as, too.
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
    const taken = code === 'ENOTEMPTY' || code === 'EEXIST';
    const what = taken
      ? 'the folder is there already and holds something else'
      : stderr?.trim() || message;
    throw new StartupFailure(`The database could not be made in ${cluster}: ${what}`, {
      cause: error,
    });
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}
