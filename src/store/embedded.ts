import { access, chmod, constants, mkdir, realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { StartupFailure } from '../core/startup-failure.ts';
import { knock } from './connection/connect.ts';
import { accountFor } from './embedded/account.ts';
import { findBinaries, packagedNative } from './embedded/binaries.ts';
import { locateCluster, prepareCluster } from './embedded/cluster.ts';
import { hold, type Lock } from './embedded/lock.ts';
import { inTurn } from './embedded/ownership.ts';
import { port, readPostmaster } from './embedded/postmaster.ts';
import { keepUp } from './embedded/restart-server.ts';
import { storedSecret, readStoredSecret } from './embedded/secret-file.ts';
import { type Launch, launch, placeSocket } from './embedded/server.ts';
import { openShared, sharedDefault } from './embedded/shared-default.ts';

/**
 * A real PostgreSQL 18 from npm, run as a child and kept up for as long as Cueline lives.
 *
 *     dataDir/lock, pid             one Cueline at a time, and which (turn.ts says what the others do)
 *     dataDir/postgres              the cluster, or a symbolic link to it; its `log` holds a week
 *     dataDir/postgres.password     of both roles, readable by the owner alone
 *     dataDir/secret                what stored credentials are sealed with (`embeddedSecret`)
 */
export interface Embedded {
  /** Holds from now to `stop`, over every restart of PostgreSQL. */
  readonly connection: pg.ClientConfig;
  /** Ends PostgreSQL in order and gives the data directory free. */
  stop(): Promise<void>;
  /** Told each time that PostgreSQL ended by itself; it is being started again by then. */
  onExit(tell: (how: string) => void): void;
}

export interface EmbeddedOptions {
  readonly dataDir: string;
  /** What others take it for: unless it is a server, they wait until it has ended. */
  readonly role?: 'server' | 'command';
  readonly onLog?: (line: string) => void;
  /** Told once for whom the start waits, where it must. */
  readonly onWait?: (whom: string) => void;
  /** Gives up on a start under way. */
  readonly signal?: AbortSignal;
  /** Root's place for what the data directory or `node_modules` cannot give the account of PostgreSQL. */
  readonly sharedDir?: string;
  /** The folder with `bin`, `lib` and `share`; that of the npm package unless given. */
  readonly native?: string;
}

/** Throws a `StartupFailure` where this cannot be: a server has the directory, the platform has no package, … */
export function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  return inTurn(() => start(options), options);
}

/** For a command: the database of the server on this data directory, else one of its own, which `stop` ends. */
export function joinEmbedded(
  options: EmbeddedOptions,
): Promise<Pick<Embedded, 'connection' | 'stop'>> {
  const besideServer = async () => {
    const connection = await findEmbedded(options.dataDir);
    return connection && { connection, stop: async () => {} };
  };
  return inTurn(() => start({ ...options, role: 'command' }), { ...options, besideServer });
}

async function start(options: EmbeddedOptions): Promise<Embedded> {
  const claims = new AsyncDisposableStack();
  const locks: Lock[] = [];
  const isServer = options.role !== 'command';
  const take = (directory: string) => {
    const lock = hold(directory, isServer ? 'starting' : 'command');
    claims.defer(lock.release);
    locks.push(lock);
  };
  try {
    const dataDir = await openDataDir(options.dataDir);
    take(dataDir);
    const plan = await prepare(dataDir, options, claims, take);
    const kept = keepUp(plan, await launch(plan));
    claims.defer(kept.stop);
    await furnish(plan.superuser, plan.password);
    if (isServer) for (const lock of locks) lock.become('serving');
    return {
      connection: parseDatabaseUrl(plan.socketDir, plan.password),
      onExit: kept.onExit,
      stop: () => claims.disposeAsync(),
    };
  } catch (error) {
    await claims.disposeAsync();
    throw error;
  }
}

/** The connection to the PostgreSQL that a Cueline runs on this data directory; `null` where none is up. */
export async function findEmbedded(dataDir: string): Promise<pg.ClientConfig | null> {
  const cluster = await realpath(join(dataDir, 'postgres')).catch(() => null);
  const running = cluster && (await readPostmaster(cluster));
  const password = running && (await readStoredSecret(dataDir, passwordName));
  if (!password) return null;
  const connection = parseDatabaseUrl(running.socketDir, password);
  return (await knock(connection)) === null ? connection : null;
}

/** What credentials are sealed with where `CUELINE_SECRET` is not set; made at the first call. Needs the lock. */
export function embeddedSecret(dataDir: string): Promise<string> {
  return storedSecret(dataDir, 'secret');
}

const passwordName = 'postgres.password';
/** Cueline itself is no superuser: an error in a statement of ours must not become a program run on the machine. */
const names = { superuser: 'postgres', role: 'cueline', database: 'cueline' };

function parseDatabaseUrl(socketDir: string, password: string): pg.ClientConfig {
  return { host: socketDir, port, user: names.role, password, database: names.database };
}

async function openDataDir(given: string): Promise<string> {
  try {
    // Root lets the account of PostgreSQL pass through; the files that are secret say so themselves.
    const made = await mkdir(given, { recursive: true });
    const dataDir = await realpath(given);
    if (made) await chmod(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
    await access(dataDir, constants.R_OK | constants.W_OK);
    return dataDir;
  } catch (error) {
    throw new StartupFailure(
      `The data directory ${given} cannot be used: ${(error as Error).message}`,
    );
  }
}

type Plan = Launch & { readonly password: string };

async function prepare(
  dataDir: string,
  options: EmbeddedOptions,
  claims: AsyncDisposableStack,
  take: (directory: string) => void,
): Promise<Plan> {
  const {
    signal = new AbortController().signal,
    onLog = () => {},
    sharedDir = sharedDefault,
    native = packagedNative(),
  } = options;
  const account = await accountFor(join(dataDir, 'postgres'));
  const shared = async () => {
    if (!account) throw new StartupFailure('Only root has need of a shared directory.');
    return openShared(sharedDir, account);
  };
  const binaries = await findBinaries(native, account, shared);
  const location = await locateCluster(dataDir, account, shared);
  // A copy of a data directory may point to the same cluster: then that is what only one can have.
  if (dirname(location) !== dataDir) take(dirname(location));
  const password = await storedSecret(dataDir, passwordName);
  const { superuser } = names;
  const cluster = await prepareCluster(location, { binaries, account, superuser, password });
  const socketDir = await placeSocket(cluster, account);
  if (socketDir !== cluster) claims.defer(() => rm(socketDir, { recursive: true, force: true }));
  const connection = {
    ...parseDatabaseUrl(socketDir, password),
    user: superuser,
    database: 'postgres',
  };
  return { binaries, account, cluster, socketDir, superuser: connection, password, signal, onLog };
}

/** The role and the database, at each start: a first start may have died between `initdb` and here. */
async function furnish(superuser: pg.ClientConfig, password: string): Promise<void> {
  const client = new pg.Client(superuser);
  client.on('error', () => {});
  await client.connect();
  try {
    const found = await client.query<{ role: boolean; database: boolean }>(
      `select exists (select from pg_roles where rolname = $1) as role,
              exists (select from pg_database where datname = $2) as database`,
      [names.role, names.database],
    );
    const there = found.rows[0];
    if (!there?.role) {
      await client.query(
        `create role ${names.role} login password ${client.escapeLiteral(password)}`,
      );
    }
    if (!there?.database)
      await client.query(`create database ${names.database} owner ${names.role}`);
  } finally {
    await client.end();
  }
}
