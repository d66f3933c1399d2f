import type { Socket } from 'node:net';
import { CamelCasePlugin, Kysely, type Transaction } from 'kysely';
import pg from 'pg';
import type { Connection } from './detect-pooler.ts';
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
  const connectTimeoutMs = options.connection.connectionTimeoutMillis ?? connectTimeoutDefaultMs;
  const pool = new pg.Pool({
    Client,
    ...clientConfig(options.connection, statementMsMax, idleMsMax),
    max: options.poolMax,
    connectionTimeoutMillis: Math.min(connectTimeoutMs, statementMsMax || connectTimeoutMs),
    idleTimeoutMillis: 30_000,
  });
  pool.on('error', options.onError);
  pool.on('connect', (client) => client.on('error', options.onError));
  const db = new Kysely<Schema>({
    dialect: new ObservedDialect({ pool }),
    log: reportFailedStatement,
    plugins: [new CamelCasePlugin({ maintainNestedObjectKeys: true })],
  });
  if (statementMsMax > 0) idleClosers.set(db, destroySilentConnections(pool, statementMsMax));
  return db;
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
export const connectTimeoutDefaultMs = 5_000;

export interface ClientConfig extends pg.ClientConfig {
  /** Sent as startup parameters, which take precedence over the settings of the role, the database and `options`. */
  readonly settings: Readonly<Record<string, string>>;
}

/** A client whose session settings are its own, whatever the role or database defines. */
export class Client extends pg.Client {
  readonly #settings: ClientConfig['settings'];

  constructor(config?: ClientConfig) {
    super(config);
    this.#settings = config?.settings ?? {};
  }

  /** `pg` calls this on connect, although its types omit it. */
  getStartupConf(): Record<string, string> {
    const { getStartupConf } = pg.Client.prototype as Client;
    return { ...getStartupConf.call(this), ...this.#settings };
  }
}

/** The settings of every connection, pooled or not. */
export function clientConfig(
  connection: Connection,
  statementMsMax = statementMsDefault,
  idleMsMax = 10_000,
): ClientConfig {
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
    settings: sessionSettings(connection),
    types: { getTypeParser: typeParser },
  };
}

/**
 * Destroys a connection in use that received nothing for longer than the statement timeout, and all idle connections with
 * it. After a failover such a socket looks alive, and its statement would wait for ever.
 */
function destroySilentConnections(pool: pg.Pool, statementMsMax: number): () => void {
  // Allows time for the error that reports the statement timeout.
  const silenceMsMax = statementMsMax + Math.min(5_000, statementMsMax / 2);
  const socketOf = (client: pg.PoolClient) =>
    (client as unknown as { connection: { stream: Socket } }).connection.stream;
  const idle = new Set<pg.PoolClient>();
  const closeIdle = () => {
    for (const client of idle) {
      // The pool drops the client at once. It would still lend it out until the socket reports its end.
      client.emit(
        'error',
        new Error('closed an idle connection because a connection in use received nothing'),
      );
      // `client.end()` would wait for a response that never comes.
      socketOf(client).destroy();
    }
    idle.clear();
  };
  pool.on('acquire', (client) => {
    idle.delete(client);
    const socket = socketOf(client);
    socket.setTimeout(silenceMsMax, () => {
      socket.destroy();
      closeIdle();
    });
  });
  pool.on('release', (_error, client) => {
    socketOf(client).setTimeout(0).removeAllListeners('timeout');
    idle.add(client);
  });
  pool.on('remove', (client) => idle.delete(client));
  return closeIdle;
}

/** `json` stays the original text, `bigint` becomes a number, `numeric` stays a decimal string. */
const typeParser: typeof pg.types.getTypeParser = ((oid: number, format?: 'text' | 'binary') => {
  if (oid === pg.types.builtins.INT8) return Number;
  if (oid === pg.types.builtins.JSON) return String;
  return pg.types.getTypeParser(oid, format as 'text');
}) as typeof pg.types.getTypeParser;
