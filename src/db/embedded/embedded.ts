import { access, chmod, constants, mkdir, realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { Closers } from '../../core/closers.ts';
import { StartupFailure } from '../../core/startup-failure.ts';
import { tryConnect } from '../connect.ts';
import { accountFor } from './account.ts';
import { findBinaries, packagedNative } from './binaries.ts';
import { locateCluster, prepareCluster } from './cluster.ts';
import { chooseSocketDir, type LaunchOptions, launch } from './embedded-server.ts';
import { acquireLock, type DirectoryLock } from './lock.ts';
import { withOwnership } from './ownership.ts';
import { port, readPostmaster } from './postmaster.ts';
import { superviseServer } from './restart-server.ts';
import { readStoredSecret, storedSecret } from './secret-file.ts';
import { defaultSharedDir, openSharedDir, refuseReadOnlyDisk } from './shared-directory.ts';

/**
 * The embedded database: a PostgreSQL 18 from npm that runs as a child process.
 *
 *     dataDir/lock, pid             the lock of the data directory and its owner (embedded/lock.ts)
 *     dataDir/postgres              the cluster, or a symbolic link to it; its `log` covers a week
 *     dataDir/postgres.password     the password of both roles
 *     dataDir/secret                the key that encrypts stored credentials (`embeddedSecret`)
 *
 * Start: acquire the lock, find the binaries, create the cluster if necessary, stop an orphaned PostgreSQL, launch, create
 * role and database, publish the state `serving`.
 *
 * Invariants
 * - At most one process owns a data directory; only the owner starts and stops PostgreSQL (embedded/ownership.ts).
 * - PostgreSQL ends before the lock is released.
 * - The cluster is complete or absent: `initdb` works in a temporary directory that is renamed afterwards.
 * - The server is durable and listens only on a unix socket that needs a password.
 *
 * Failure cases
 * - A start fails: everything that it acquired is released in reverse order.
 * - PostgreSQL crashes: it is restarted with increasing delays (embedded/restart-server.ts).
 * - The owner is killed: the next owner stops the orphaned PostgreSQL first (embedded/postmaster.ts).
 */
export interface Embedded {
  /** Valid until `stop`, also across restarts of PostgreSQL. */
  readonly connection: pg.ClientConfig;
  /** Stops PostgreSQL and releases the lock. */
  stop(): Promise<void>;
  /** The listener is called each time PostgreSQL has crashed, before its restart. */
  onExit(listener: (how: string) => void): void;
}

export interface EmbeddedOptions {
  readonly dataDir: string;
  /** The state that other processes see. They wait for a command, but not for a server. */
  readonly role?: 'server' | 'command';
  readonly onLog?: (line: string) => void;
  /** Called once with the owner that the start waits for. */
  readonly onWait?: (owner: string) => void;
  /** Aborts a start. */
  readonly signal?: AbortSignal;
  /** Root's directory for files that the account of PostgreSQL cannot reach otherwise. */
  readonly sharedDir?: string;
  /** The directory with `bin`, `lib` and `share`. Defaults to that of the npm package. */
  readonly native?: string;
}

/** Throws a `StartupFailure`, for example if a server owns the data directory or the platform has no package. */
export function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  return withOwnership(() => start(options), options);
}

/** For commands: joins the database of the server on this data directory, or starts one that ends with `stop`. */
export function joinEmbedded(
  options: EmbeddedOptions,
): Promise<Pick<Embedded, 'connection' | 'stop'>> {
  const joinServer = async () => {
    const connection = await findEmbedded(options.dataDir);
    return connection && { connection, stop: async () => {} };
  };
  return withOwnership(() => start({ ...options, role: 'command' }), { ...options, joinServer });
}

async function start(options: EmbeddedOptions): Promise<Embedded> {
  const resources = new Closers();
  const locks: DirectoryLock[] = [];
  const isServer = options.role !== 'command';
  const lockDirectory = (directory: string) => {
    const lock = acquireLock(directory, isServer ? 'starting' : 'command');
    resources.defer(lock.release);
    locks.push(lock);
  };
  try {
    const dataDir = await openDataDir(options.dataDir);
    lockDirectory(dataDir);
    const launchOptions = await prepare(dataDir, options, resources, lockDirectory);
    const server = superviseServer(launchOptions, await launch(launchOptions));
    resources.defer(server.stop);
    await createRoleAndDatabase(launchOptions.superuser, launchOptions.password);
    if (isServer) for (const lock of locks) lock.setState('serving');
    return {
      connection: cuelineConnection(launchOptions.socketDir, launchOptions.password),
      onExit: server.onExit,
      stop: () => resources.close(),
    };
  } catch (error) {
    await resources.close();
    throw error;
  }
}

/** The connection to a running PostgreSQL of this data directory; null if none accepts connections. */
export async function findEmbedded(dataDir: string): Promise<pg.ClientConfig | null> {
  const cluster = await realpath(join(dataDir, 'postgres')).catch(() => null);
  const running = cluster && (await readPostmaster(cluster));
  const password = running && (await readStoredSecret(dataDir, passwordName));
  if (!password) return null;
  const connection = cuelineConnection(running.socketDir, password);
  return (await tryConnect(connection)) === null ? connection : null;
}

/** The default of `CUELINE_SECRET`, generated on first use. Needs the lock. */
export function embeddedSecret(dataDir: string): Promise<string> {
  return storedSecret(dataDir, 'secret');
}

const passwordName = 'postgres.password';
/** Cueline's role is no superuser: a bug in a statement must not give access to the machine. */
const names = { superuser: 'postgres', role: 'cueline', database: 'cueline' };

function cuelineConnection(socketDir: string, password: string): pg.ClientConfig {
  return { host: socketDir, port, user: names.role, password, database: names.database };
}

async function openDataDir(path: string): Promise<string> {
  try {
    // Root's data directory lets the account of PostgreSQL pass; secret files have modes of their own.
    const created = await mkdir(path, { recursive: true });
    const dataDir = await realpath(path);
    if (created) await chmod(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
    await access(dataDir, constants.R_OK | constants.W_OK);
    return dataDir;
  } catch (error) {
    await refuseReadOnlyDisk(path);
    throw new StartupFailure(
      `The data directory ${path} cannot be used: ${(error as Error).message}`,
    );
  }
}

type EmbeddedLaunch = LaunchOptions & { readonly password: string };

async function prepare(
  dataDir: string,
  options: EmbeddedOptions,
  resources: Closers,
  lockDirectory: (directory: string) => void,
): Promise<EmbeddedLaunch> {
  const {
    signal = new AbortController().signal,
    onLog = () => {},
    sharedDir = defaultSharedDir,
    native = packagedNative(),
  } = options;
  const account = await accountFor(join(dataDir, 'postgres'));
  const openShared = async () => {
    if (!account) throw new StartupFailure('Only root can use a shared directory.');
    return openSharedDir(sharedDir, account);
  };
  const binaries = await findBinaries(native, account, openShared);
  const location = await locateCluster(dataDir, account, openShared);
  // A copy of the data directory may link to the same cluster, so that directory needs a lock too.
  if (dirname(location) !== dataDir) lockDirectory(dirname(location));
  const password = await storedSecret(dataDir, passwordName);
  const { superuser } = names;
  const cluster = await prepareCluster(location, { binaries, account, superuser, password });
  const socketDir = await chooseSocketDir(cluster, account);
  if (socketDir !== cluster) {
    resources.defer(() => rm(socketDir, { recursive: true, force: true }));
  }
  const connection = {
    ...cuelineConnection(socketDir, password),
    user: superuser,
    database: 'postgres',
  };
  return { binaries, account, cluster, socketDir, superuser: connection, password, signal, onLog };
}

/** Runs at each start, because the first start may have crashed after `initdb`. */
async function createRoleAndDatabase(superuser: pg.ClientConfig, password: string): Promise<void> {
  const client = new pg.Client(superuser);
  client.on('error', () => {});
  await client.connect();
  try {
    const found = await client.query<{ role: boolean; database: boolean }>(
      `select exists (select from pg_roles where rolname = $1) as role,
              exists (select from pg_database where datname = $2) as database`,
      [names.role, names.database],
    );
    const existing = found.rows[0];
    if (!existing?.role) {
      await client.query(
        `create role ${names.role} login password ${client.escapeLiteral(password)}`,
      );
    }
    if (!existing?.database)
      await client.query(`create database ${names.database} owner ${names.role}`);
  } finally {
    await client.end();
  }
}
