import { requireSecret } from '../../config.ts';
import { connectToDatabase, parseDatabaseUrl } from '../../store/connection/connect.ts';
import { type Db, openDatabase } from '../../store/connection/database.ts';
import { type Connection, detectPooler } from '../../store/connection/detect-pooler.ts';
import type { Embedded, EmbeddedOptions } from '../../store/embedded.ts';
import { checkSchema, type MigrateOptions, migrate } from '../../store/migrate.ts';
import type { Context } from '../command.ts';

/** How long a start waits for a database that is not up yet. */
const reachMs = 60_000;

export interface Database {
  readonly connection: Connection;
  readonly db: Db;
  /** Where the data lives, to be shown: it holds no password. */
  readonly place: string;
}

/**
 * The database of a process that serves, or of a command that must have it alone: the embedded one is started for it,
 * and ends with it. Its schema is brought up to date, or, with `CUELINE_MIGRATE=manual`, must be.
 */
export async function openForServer(
  context: Context,
  role: 'server' | 'command' = 'server',
): Promise<Database & { secret: string }> {
  const { config, life } = context;
  requireSecret(config);
  const start = async () => (await embedded()).startEmbedded({ ...forEmbedded(context), role });
  const database = opened((await given(context)) ?? (await local(context, start)), context);
  await bringUpToDate(database, context);
  life.ending.throwIfAborted();
  const secret = config.secret ?? (await (await embedded()).embeddedSecret(config.dataDir));
  return { ...database, secret };
}

/** The database of a command: that of the server on the same data directory, if there is one. */
export async function openForCommand(context: Context): Promise<Database> {
  const join = async () => (await embedded()).joinEmbedded(forEmbedded(context));
  return opened((await given(context)) ?? (await local(context, join)), context);
}

type Found = Omit<Database, 'db'>;

/** With a server of one's own none of the embedded one is even loaded. */
const embedded = () => import('../../store/embedded.ts');

async function given({ config, life, log }: Context): Promise<Found | null> {
  if (config.databaseUrl === null) return null;
  const { host, pathname } = new URL(config.databaseUrl.replace('@/', '@localhost/'));
  const place = `${host}${pathname}`;
  const connection = parseDatabaseUrl(config.databaseUrl);
  await connectToDatabase(connection, {
    withinMs: reachMs,
    signal: life.ending,
    onWait: (reason) => log.info(`Waiting for the database at ${place}: ${reason}`),
  });
  return { connection: await detectPooler(connection), place };
}

function forEmbedded({ config: { dataDir }, life, log }: Context): EmbeddedOptions {
  return {
    dataDir,
    signal: life.ending,
    onLog: (line) => log.warn(line),
    onWait: (whom) => log.info(`Waiting for ${whom}`),
  };
}

async function local(
  { config: { dataDir }, life }: Context,
  open: () => Promise<Pick<Embedded, 'connection' | 'stop'>>,
): Promise<Found> {
  const { connection, stop } = await open();
  life.closers.defer(stop);
  return { connection, place: dataDir };
}

function opened(found: Found, { config, life, log }: Context): Database {
  let closed = false;
  const db = openDatabase({
    connection: found.connection,
    poolMax: config.databasePool,
    onError: ({ message }) => {
      // The pool does not wait for its connections to be gone, and the embedded server may end before them.
      if (!closed) log.warn(`A database connection was lost: ${message}`);
    },
  });
  life.closers.defer(() => {
    closed = true;
    return db.destroy();
  });
  return { ...found, db };
}

/** Brings the schema up to date, or, with `CUELINE_MIGRATE=manual`, throws unless it is. */
export function bringUpToDate({ connection, db }: Database, context: Context): Promise<void> {
  return context.config.migrate === 'auto'
    ? migrateAt(connection, waitingFor(context))
    : checkSchema(db);
}

/** On connections of its own: a migration takes as long as it takes. */
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

export function waitingFor({ life, log }: Context): MigrateOptions {
  return {
    signal: life.ending,
    onWait: () =>
      log.warn('A migration waits for a table that others use, as a dump does; trying again'),
  };
}
