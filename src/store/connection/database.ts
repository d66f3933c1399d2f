import type { Socket } from 'node:net';
import { CamelCasePlugin, Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import type { Connection } from './detect-pooler.ts';

/**
 * The connections. Statements are written with kysely's `sql` and run on the pool; the hot paths
 * (admission, finish, polls, heartbeat) have connections of their own.
 */

/** Any handle that statements run on: the pool or one transaction. */
export type Db = Kysely<Schema>;
export type Trx = Transaction<Schema>;
/** Statements are typed where they stand (`sql<Row>`), so the schema has no tables. */
type Schema = Record<string, never>;

export interface DatabaseOptions {
  readonly connection: Connection;
  /** Connections in the pool; the pipelined clients come on top. */
  readonly poolMax: number;
  /** How long a statement may take; 0 for as long as it takes. */
  readonly statementMsMax?: number;
  /** How long a transaction may lie idle. */
  readonly idleMsMax?: number;
  /** Told of errors on idle connections, which the pool replaces by itself. */
  readonly onError: (error: Error) => void;
}

export function openDatabase(options: DatabaseOptions): Db {
  const { statementMsMax = statementMsDefault, idleMsMax } = options;
  const pool = new pg.Pool({
    Client,
    ...clientConfig(options.connection, statementMsMax, idleMsMax),
    max: options.poolMax,
    connectionTimeoutMillis: Math.min(5_000, statementMsMax || 5_000),
    idleTimeoutMillis: 30_000,
  });
  pool.on('error', options.onError);
  pool.on('connect', (client) => client.on('error', options.onError));
  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool }),
    plugins: [new CamelCasePlugin({ maintainNestedObjectKeys: true })],
  });
  if (statementMsMax > 0) idleEnds.set(db, endSilentConnections(pool, statementMsMax));
  return db;
}

/**
 * A transaction of its own, or where the handle is one already, that one: what is done in several steps of which each is
 * a whole elsewhere. What is read after a lock must be read with a later snapshot, whatever the database's default is.
 */
export function inTransaction<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> {
  if (db.isTransaction) return work(db as Trx);
  return db.transaction().setIsolationLevel('read committed').execute(work);
}

/** Ends the connections that nobody uses just now: where one fell silent, the others are dead as well. */
export function dropIdle(db: Db): void {
  idleEnds.get(db)?.();
}

const idleEnds = new WeakMap<Db, () => void>();

const statementMsDefault = 30_000;

/**
 * A connection of which we know how times are written and texts are read, whatever its role or database says. Poolers
 * know these two settings, and see to them for each transaction.
 */
export class Client extends pg.Client {
  /** `pg` asks for it when it connects, though its types do not say so. */
  getStartupConf(): Record<string, string> {
    const { getStartupConf } = pg.Client.prototype as Client;
    return { ...getStartupConf.call(this), DateStyle: 'ISO', standard_conforming_strings: 'on' };
  }
}

/** What every connection shares, in a pool or not. */
export function clientConfig(
  connection: Connection,
  statementMsMax = statementMsDefault,
  idleMsMax = 10_000,
): pg.ClientConfig {
  const timeouts = {
    statement_timeout: statementMsMax,
    // Of a process that is stopped or cut off: others wait for its locks.
    idle_in_transaction_session_timeout: idleMsMax,
  };
  return {
    application_name: 'cueline',
    keepAlive: true,
    ...(!connection.pooled && timeouts),
    ...connection,
    types: { getTypeParser: typeParser },
  };
}

/**
 * A connection that is in use and has not said a word for longer than any statement may take is dead, however alive the
 * socket looks: after a failover whoever waits on it would wait for ever.
 */
function endSilentConnections(pool: pg.Pool, statementMsMax: number): () => void {
  // What the word that a statement was given up at its time may take.
  const silenceMsMax = statementMsMax + Math.min(5_000, statementMsMax / 2);
  const socketOf = (client: pg.PoolClient) =>
    (client as unknown as { connection: { stream: Socket } }).connection.stream;
  const idle = new Set<pg.PoolClient>();
  const endIdle = () => {
    for (const client of idle) {
      // Heard at once, whereas the end of its socket is heard later, and until then the pool would hand it out.
      client.emit(
        'error',
        new Error('an idle connection was ended, since one in use had fallen silent'),
      );
      // The pool's farewell would wait for an answer that does not come.
      socketOf(client).destroy();
    }
    idle.clear();
  };
  pool.on('acquire', (client) => {
    idle.delete(client);
    const socket = socketOf(client);
    socket.setTimeout(silenceMsMax, () => {
      socket.destroy();
      endIdle();
    });
  });
  pool.on('release', (_error, client) => {
    socketOf(client).setTimeout(0).removeAllListeners('timeout');
    idle.add(client);
  });
  pool.on('remove', (client) => idle.delete(client));
  return endIdle;
}

/** `json` stays the text that was sent; counts become numbers; `numeric` stays a decimal text. */
const typeParser: typeof pg.types.getTypeParser = ((oid: number, format?: 'text' | 'binary') => {
  if (oid === pg.types.builtins.INT8) return Number;
  if (oid === pg.types.builtins.JSON) return String;
  return pg.types.getTypeParser(oid, format as 'text');
}) as typeof pg.types.getTypeParser;
