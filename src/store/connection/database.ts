import type { Socket } from 'node:net';
import { CamelCasePlugin, type Dialect, Kysely, type Transaction } from 'kysely';
import pg from 'pg';
import { Client, type ClientConfig } from './client.ts';
import type { Connection } from './detect-pooler.ts';
import { IdleConnections } from './idle-connections.ts';
import { ObservedDialect, reportFailedStatement } from './observed-errors.ts';
import { sessionSettings } from './session-settings.ts';

/**
 * The connection pool. Most statements are kysely `sql` templates and run on the pool. The hot paths (admission, finish,
 * polls, heartbeat) use pipelined connections instead (`pipeline.ts`).
 */

/** A handle to run statements on: the pool or a transaction. */
export type Db = Kysely<Schema>;
export type Trx = Transaction<Schema>;
/** Each statement declares its row type (`sql<Row>`), so the schema lists no tables. */
type Schema = Record<string, never>;

export interface DatabaseOptions {
  readonly connection: Connection;
  /** Connections in the pool, in addition to the pipelined connections. */
  readonly poolMax: number;
  /** The statement timeout; 0 disables it. */
  readonly statementMsMax?: number;
  /** The idle timeout of a transaction. */
  readonly idleMsMax?: number;
  /** Called for errors on idle connections. The pool replaces those connections itself. */
  readonly onError: (error: Error) => void;
}

export function openDatabase(options: DatabaseOptions): Db {
  const { statementMsMax = statementMsDefault, idleMsMax } = options;
  const { idle = new IdleConnections() } = options.connection;
  const config = clientConfig({ ...options.connection, idle }, statementMsMax, idleMsMax);
  const { connectionTimeoutMillis } = config;
  const pool = new pg.Pool({
    Client,
    ...config,
    max: options.poolMax,
    connectionTimeoutMillis: Math.min(
      connectionTimeoutMillis,
      statementMsMax || connectionTimeoutMillis,
    ),
    idleTimeoutMillis: 30_000,
  });
  pool.on('error', options.onError);
  pool.on('connect', (client) => client.on('error', options.onError));
  const db = handleOn(new ObservedDialect({ pool }));
  pools.set(db, pool);
  const closeIdle = idleCloser(pool);
  idle.add(closeIdle);
  idleClosers.set(db, closeIdle);
  if (statementMsMax > 0) destroySilentConnections(pool, statementMsMax, () => idle.close());
  return db;
}

function handleOn(dialect: Dialect): Db {
  return new Kysely<Schema>({
    dialect,
    log: reportFailedStatement,
    plugins: [new CamelCasePlugin({ maintainNestedObjectKeys: true })],
  });
}

const pools = new WeakMap<Db, pg.Pool>();

/** Another handle on the pool of `db`, which closes it. */
export function handleOf(db: Db, dialectOn: (pool: pg.Pool) => Dialect): Db {
  return handleOn(dialectOn(poolOf(db)));
}

export function connectionsMaxOf(db: Db): number {
  return poolOf(db).options.max;
}

function poolOf(db: Db): pg.Pool {
  const pool = pools.get(db);
  if (!pool) throw new Error('The handle has no pool.');
  return pool;
}

/**
 * Runs `work` in a transaction; joins the transaction if the handle already is one. The isolation level is explicit: reads
 * after a lock need a new snapshot, whatever the default of the database.
 */
export function inTransaction<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> {
  if (db.isTransaction) return work(db as Trx);
  return db.transaction().setIsolationLevel('read committed').execute(work);
}

/** Closes idle connections: if one connection died silently, the others are dead too. */
export function dropIdle(db: Db): void {
  idleClosers.get(db)?.();
}

const idleClosers = new WeakMap<Db, () => void>();

const statementMsDefault = 30_000;
const connectTimeoutMs = 5_000;

/** The settings of every connection, as `clientConfig` completes them. */
export interface CompleteConfig extends ClientConfig {
  readonly connectionTimeoutMillis: number;
  readonly settings: Readonly<Record<string, string>>;
}

/** The settings of every connection, pooled or not. */
export function clientConfig(
  connection: Connection,
  statementMsMax = statementMsDefault,
  idleMsMax = 10_000,
): CompleteConfig {
  const timeouts = {
    statement_timeout: statementMsMax,
    // Ends transactions of a process that is paused or partitioned, so that others get its locks.
    idle_in_transaction_session_timeout: idleMsMax,
  };
  return {
    application_name: 'cueline',
    keepAlive: true,
    ...(!connection.pooled && timeouts),
    ...connection,
    connectionTimeoutMillis: connection.connectionTimeoutMillis ?? connectTimeoutMs,
    settings: sessionSettings(connection),
    types: { getTypeParser: typeParser },
  };
}

/** Keeps track of the idle connections of a pool. Returns the function that closes them. */
function idleCloser(pool: pg.Pool): () => void {
  const idle = new Set<pg.PoolClient>();
  pool.on('acquire', (client) => idle.delete(client));
  pool.on('release', (_error, client) => {
    // The pool does not lend out a client that ends.
    if ((client as unknown as Client).isReadOnly)
      (client as unknown as Client).end().catch(() => {});
    else idle.add(client);
  });
  pool.on('remove', (client) => idle.delete(client));
  return () => {
    const reason =
      'closed an idle connection because another one received nothing or was read-only';
    // The pool drops the client at once. `client.end()` would wait for a response that never comes.
    for (const client of idle) (client as unknown as Client).abort(reason);
    idle.clear();
  };
}

/**
 * Destroys a connection in use that received nothing for longer than the statement timeout. After a failover such a socket
 * looks alive, and its statement would wait for ever.
 */
function destroySilentConnections(
  pool: pg.Pool,
  statementMsMax: number,
  onSilence: () => void,
): void {
  // Allows time for the error that reports the statement timeout.
  const silenceMsMax = statementMsMax + Math.min(5_000, statementMsMax / 2);
  pool.on('acquire', (client) => {
    const socket = socketOf(client);
    socket.setTimeout(silenceMsMax, () => {
      socket.destroy();
      onSilence();
    });
  });
  pool.on('release', (_error, client) => {
    socketOf(client).setTimeout(0).removeAllListeners('timeout');
  });
}

function socketOf(client: pg.PoolClient): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream;
}

/** `json` stays the original text, `bigint` becomes a number, `numeric` stays a decimal string. */
const typeParser: typeof pg.types.getTypeParser = ((oid: number, format?: 'text' | 'binary') => {
  if (oid === pg.types.builtins.INT8) return Number;
  if (oid === pg.types.builtins.JSON) return String;
  return pg.types.getTypeParser(oid, format as 'text');
}) as typeof pg.types.getTypeParser;
