import type { Socket } from 'node:net';
import pg from 'pg';
import { Client, type ClientConfig } from './client.ts';
import { camelCase } from './column-names.ts';
import type { Connection } from './connection.ts';
import { IdleConnections } from './idle-connections.ts';
import { reportError } from './observed-errors.ts';
import { sessionSettings } from './session-settings.ts';
import type { Result, Sql } from './sql.ts';

/**
 * The connection pool. Most statements run on the pool or in a transaction on it. The hot paths (admission, finish, polls,
 * heartbeat) use pipelined connections instead (`pipeline.ts`).
 */

/** A handle to run statements on: a pool, one of its connections, or a transaction. */
export interface Db {
  readonly isTransaction: boolean;
  run<Row>(statement: Statement<Row>): Promise<Result<Row>>;
  /** Runs `work` in a transaction of its own, on a connection of the pool. */
  transaction<T>(work: (trx: Trx) => Promise<T>, mode?: TransactionMode): Promise<T>;
  /** Runs `work` on one connection. */
  connection<T>(work: (one: Db) => Promise<T>): Promise<T>;
  /** Begins a transaction that the caller must roll back. */
  begin(mode: TransactionMode): Promise<OpenTransaction>;
  /** Closes the pool. */
  destroy(): Promise<void>;
}

export interface Trx extends Db {
  readonly isTransaction: true;
}

export interface OpenTransaction extends Trx {
  rollback(): Promise<void>;
}

type Statement<Row> = Pick<Sql<Row>, 'text' | 'values'>;

/**
 * The isolation level is explicit, whatever the default of the database: reads after a lock need a new snapshot, except in a
 * `snapshot`, which only reads.
 */
export type TransactionMode = keyof typeof beginnings;

const beginnings = {
  'read committed': 'start transaction isolation level read committed',
  snapshot: 'start transaction isolation level repeatable read read only',
} as const;

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

export function openDatabase(options: DatabaseOptions): Database {
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
  const closeIdle = idleCloser(pool);
  idle.add(closeIdle);
  if (statementMsMax > 0) destroySilentConnections(pool, statementMsMax, () => idle.close());
  return new Database(pool, closeIdle);
}

/** Waits before a connection is taken. Returns what to do once it is given back. */
export type BeforeConnection = () => Promise<(() => void) | null>;

/** A handle on a pool. */
export class Database implements Db {
  readonly isTransaction = false;
  /** Closes idle connections: if one connection died silently, the others are dead too. */
  readonly dropIdle: () => void;
  readonly #pool: pg.Pool;
  readonly #before: BeforeConnection | null;

  constructor(pool: pg.Pool, dropIdle: () => void, before: BeforeConnection | null = null) {
    this.#pool = pool;
    this.dropIdle = dropIdle;
    this.#before = before;
  }

  /** Another handle on the same pool, which closes it. */
  withBefore(before: BeforeConnection): Database {
    return new Database(this.#pool, this.dropIdle, before);
  }

  get connectionsMax(): number {
    return this.#pool.options.max;
  }

  /** The pool for a library with statements of its own, whose errors are observed. */
  observedPool(): pg.Pool {
    const connect = async () => {
      const client = await observed(this.#pool.connect());
      return {
        query: (text: string, values: unknown[]) => observed(client.query(text, values)),
        release: (isBroken?: boolean) => client.release(isBroken),
      };
    };
    const { options } = this.#pool;
    return { connect, end: () => this.destroy(), options } as unknown as pg.Pool;
  }

  run<Row>(statement: Statement<Row>): Promise<Result<Row>> {
    return this.connection((one) => one.run(statement));
  }

  transaction<T>(work: (trx: Trx) => Promise<T>, mode?: TransactionMode): Promise<T> {
    return this.connection((one) => one.transaction(work, mode));
  }

  async connection<T>(work: (one: Db) => Promise<T>): Promise<T> {
    const { client, release } = await this.#take();
    const one = new LentConnection(client);
    try {
      return await work(one);
    } finally {
      release(one.end());
    }
  }

  async begin(mode: TransactionMode): Promise<OpenTransaction> {
    const { client, release } = await this.#take();
    const one = new LentConnection(client);
    try {
      return await one.begin(mode, () => release(one.end()));
    } catch (error) {
      release(one.end());
      throw error;
    }
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }

  async #take() {
    const after = await this.#before?.();
    try {
      const client = await observed(this.#pool.connect());
      const release = (isBroken: boolean) => {
        client.release(isBroken);
        after?.();
      };
      return { client, release };
    } catch (error) {
      after?.();
      throw error;
    }
  }
}

/** A connection while it is lent, outside of a transaction. */
class LentConnection implements Db {
  readonly isTransaction = false;
  readonly #client: pg.PoolClient;
  #ended = false;
  #isBroken = false;

  constructor(client: pg.PoolClient) {
    this.#client = client;
  }

  async run<Row>({ text, values }: Statement<Row>): Promise<Result<Row>> {
    const result = await this.#query(text, values);
    return { rows: camelRows(result), rowCount: result.rowCount ?? 0 };
  }

  async #query(text: string, values: readonly unknown[]): Promise<pg.QueryResult> {
    // It may be lent to someone else by now.
    if (this.#ended) throw new Error('The connection was released.');
    try {
      const result = await observed(this.#client.query({ text, values: values as unknown[] }));
      // Several statements in one text have several results.
      return Array.isArray(result) ? result.at(-1) : result;
    } catch (error) {
      throw withCallers(error);
    }
  }

  async transaction<T>(
    work: (trx: Trx) => Promise<T>,
    mode: TransactionMode = 'read committed',
  ): Promise<T> {
    const trx = await this.begin(mode);
    try {
      const result = await work(trx);
      await this.#commit();
      return result;
    } catch (error) {
      await trx.rollback();
      throw error;
    }
  }

  /** PostgreSQL rolls back instead if a statement has failed. */
  async #commit(): Promise<void> {
    const { command } = await this.#query('commit', []);
    if (command === 'ROLLBACK') throw new Error('The transaction failed before its commit.');
  }

  connection<T>(work: (one: Db) => Promise<T>): Promise<T> {
    return work(this);
  }

  async begin(mode: TransactionMode, onEnd = () => {}): Promise<OpenTransaction> {
    await this.run({ text: beginnings[mode], values: [] });
    const nested = () => Promise.reject(new Error('A transaction has begun already.'));
    const trx: OpenTransaction = {
      isTransaction: true,
      transaction: nested,
      begin: nested,
      run: (statement) => this.run(statement),
      connection: (work) => work(trx),
      destroy: () => this.destroy(),
      rollback: async () => {
        await this.run({ text: 'rollback', values: [] }).catch(() => {
          this.#isBroken = true;
        });
        onEnd();
      },
    };
    return trx;
  }

  destroy(): Promise<void> {
    return Promise.reject(new Error('A lent connection closes no pool.'));
  }

  /** Returns whether it must not be lent again. */
  end(): boolean {
    this.#ended = true;
    return this.#isBroken;
  }
}

function camelRows<Row>({ fields, rows }: pg.QueryResult): Row[] {
  if (!fields.some(({ name }) => name.includes('_'))) return rows;
  const names = fields.map(({ name }) => [name, camelCase(name)] as const);
  return rows.map((row) => {
    const camel: Record<string, unknown> = {};
    for (const [name, camelName] of names) camel[camelName] = row[name];
    return camel as Row;
  });
}

async function observed<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    reportError(error);
    throw error;
  }
}

/** The error of a server says nothing of the code that sent the statement. */
function withCallers(error: unknown): unknown {
  if (error instanceof Error) {
    error.stack = `${error.stack}\n${new Error().stack?.split('\n').slice(2).join('\n')}`;
  }
  return error;
}

/** Runs `work` in a transaction; joins the transaction if the handle already is one. */
export function inTransaction<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> {
  return isTransaction(db) ? work(db) : db.transaction(work);
}

function isTransaction(db: Db): db is Trx {
  return db.isTransaction;
}

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
