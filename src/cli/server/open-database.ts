import { realpath } from 'node:fs/promises';
import { splitDatabaseUrl } from '../../core/database-url.ts';
import { UnsupportedSchema } from '../../core/startup-failure.ts';
import { connectToDatabase, parseDatabaseUrl } from '../../db/connect.ts';
import type { Connection } from '../../db/connection.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { detectPooler } from '../../db/detect-pooler.ts';
import type { Embedded, EmbeddedOptions } from '../../db/embedded/embedded.ts';
import { IdleConnections } from '../../db/idle-connections.ts';
import { checkSchema, type MigrateOptions, migrate } from '../../db/migrations/migrate.ts';
import { requireSecret } from '../../process/config/config.ts';
import type { Context } from '../command.ts';

/** Time to wait at startup for an unreachable database. */
const connectTimeoutMs = 60_000;

export interface OpenedDatabase {
  readonly connection: Connection;
  readonly db: Database;
  /** Location of the data for display. Contains no password. */
  readonly place: string;
}

/**
 * Opens the database of a server, or of a command that needs exclusive access. Starts the embedded
 * database if none is configured; it stops with the process. Migrates the schema or, with
 * `CUELINE_MIGRATE=manual`, checks it.
 */
export async function openForServer(
  context: Context,
  role: 'server' | 'command' = 'server',
): Promise<OpenedDatabase & { secret: string }> {
  const { config, lifetime } = context;
  requireSecret(config);
  const start = async () =>
    (await importEmbedded()).startEmbedded({ ...embeddedOptions(context), role });
  const database = withPool(
    (await openConfigured(context)) ?? (await openEmbedded(context, start)),
    context,
  );
  await ensureSchema(database, context);
  lifetime.stopping.throwIfAborted();
  const secret = config.secret ?? (await (await importEmbedded()).embeddedSecret(config.dataDir));
  return { ...database, secret };
}

/**
 * Opens the database of a command. Joins the embedded database of a server on the same data
 * directory, if there is one.
 */
export async function openForCommand(context: Context): Promise<OpenedDatabase> {
  const join = async () => (await importEmbedded()).joinEmbedded(embeddedOptions(context));
  return withPool((await openConfigured(context)) ?? (await openEmbedded(context, join)), context);
}

type DatabaseLocation = Omit<OpenedDatabase, 'db'>;

/** Loaded only if no database is configured. */
const importEmbedded = () => import('../../db/embedded/embedded.ts');

async function openConfigured({
  config,
  lifetime,
  log,
}: Context): Promise<DatabaseLocation | null> {
  if (config.databaseUrl === null) return null;
  const place = placeOf(config.databaseUrl);
  const connection = parseDatabaseUrl(config.databaseUrl);
  await connectToDatabase(connection, {
    withinMs: connectTimeoutMs,
    signal: lifetime.stopping,
    onWait: (reason) => log.info(`waiting for the database at ${place}: ${reason}`),
  });
  return { connection: await detectPooler(connection, (text) => log.warn(text)), place };
}

/** The connection to standbys; null if none are configured. They may be away: the primary then serves their reads. */
export async function openStandbys({ config, log }: Context): Promise<Connection | null> {
  if (config.readUrl === null) return null;
  const name = 'DATABASE_READ_URL';
  const connection = parseDatabaseUrl(config.readUrl, { name, wanted: 'prefer-standby' });
  try {
    return await detectPooler(connection, (text) => log.warn(text));
  } catch (error) {
    log.warn({ err: error }, 'standby unavailable');
    return connection;
  }
}

/** Where the database is, without its password. */
function placeOf(databaseUrl: string): string {
  const split = splitDatabaseUrl(databaseUrl);
  if (!split) return '';
  const { host, pathname } = new URL(split.url.replace('@/', '@localhost/'));
  const [, ...others] = split.servers;
  return [host, ...others.map(({ host, port }) => `${host}:${port}`)].join(',') + pathname;
}

function embeddedOptions({ config: { dataDir }, lifetime, log }: Context): EmbeddedOptions {
  return {
    dataDir,
    signal: lifetime.stopping,
    onLog: (line) => log.warn(line),
    onWait: (whom) => log.info(`waiting for ${whom}`),
  };
}

async function openEmbedded(
  { config: { dataDir }, lifetime }: Context,
  open: () => Promise<Pick<Embedded, 'connection' | 'stop'>>,
): Promise<DatabaseLocation> {
  const { connection, stop } = await open();
  lifetime.closers.defer(stop);
  return { connection: { ...connection, idle: new IdleConnections() }, place: dataDir };
}

function withPool(location: DatabaseLocation, { config, lifetime, log }: Context): OpenedDatabase {
  let closed = false;
  const db = openDatabase({
    connection: location.connection,
    poolMax: config.databasePool,
    onError: ({ message }) => {
      // The pool does not wait for its connections to close, and the embedded server may stop
      // before them.
      if (!closed) log.warn(`database connection lost: ${message}`);
    },
  });
  lifetime.closers.defer(() => {
    closed = true;
    return db.destroy();
  });
  return { ...location, db };
}

/** Migrates the schema or, with `CUELINE_MIGRATE=manual`, throws unless it is current. */
export function ensureSchema(database: OpenedDatabase, context: Context): Promise<void> {
  return locateUnsupported(database, context, () =>
    context.config.migrate === 'auto'
      ? migrateAt(database.connection, migrateOptions(context))
      : checkSchema(database.db),
  );
}

/** Names the database and the way to an empty one where the schema cannot be upgraded. */
async function locateUnsupported(
  { place }: OpenedDatabase,
  { config: { databaseUrl, dataDir } }: Context,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof UnsupportedSchema)) throw error;
    if (databaseUrl !== null) {
      throw error.at(`The database ${place}`, 'let DATABASE_URL name an empty database');
    }
    const directory = await realpath(dataDir);
    throw error.at(`The database in ${directory}`, `move the directory ${directory} away`);
  }
}

/** Uses its own connection without a statement timeout, because a migration can take long. */
export async function migrateAt(
  connection: Connection,
  options: MigrateOptions = {},
): Promise<void> {
  const db = openDatabase({ connection, poolMax: 1, statementMsMax: 0, onError: () => {} });
  try {
    await migrate(db, options);
  } finally {
    await db.destroy();
  }
}

export function migrateOptions({ lifetime, log }: Context): MigrateOptions {
  return {
    signal: lifetime.stopping,
    onWait: () =>
      log.warn({ reason: 'a table is locked, for example by a dump' }, 'migration delayed'),
  };
}

/** `cueline migrate`: migrates the schema. */
export async function runMigrate(context: Context): Promise<void> {
  const database = await openForCommand(context);
  await locateUnsupported(database, context, () =>
    migrateAt(database.connection, migrateOptions(context)),
  );
  console.log(`Migrated the schema in ${database.place}.`);
}
