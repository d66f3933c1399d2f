import type pg from 'pg';
import { camelCase } from './column-names.ts';

/**
 * Several statements in one round trip, over PostgreSQL's extended query protocol: one Sync ends the batch. PostgreSQL runs
 * the statements in order and skips those after a failed one. Without an open transaction they form one, and a commit in the
 * batch is always the last statement. Rejected: one `pg` query per statement, which wakes up both sides for each of them.
 */

export interface PreparedQuery {
  /** The name of the prepared statement; null behind a pooler. */
  readonly name: string | null;
  readonly text: string;
  readonly values: (string | Buffer | null)[];
}

/** Receives the rows of each statement, or the error of the failed one. */
export interface QueryCallbacks {
  resolve(rows: unknown[][]): void;
  reject(error: unknown): void;
}

/** The columns of a statement and their parsers. */
type Shape = readonly { readonly name: string; readonly read: (text: string) => unknown }[];

/** The prepared statements of a connection by name, each with the shape that the server described. */
export type StatementCache = Map<string, Shape>;

interface Result {
  readonly name: string | null;
  shape: Shape;
  readonly rows: unknown[];
}

const noShape: Shape = [];

/** `pg` calls the `handle…` methods for each message of the server. */
export class PipelinedQuery implements pg.Submittable {
  /** Set by `pg` if the connection has a `query_timeout`. */
  callback?: () => void;
  readonly #queries: readonly PreparedQuery[];
  readonly #statements: StatementCache;
  readonly #readerOf: (type: number) => (text: string) => unknown;
  readonly #callbacks: QueryCallbacks;
  readonly #results: Result[];
  #at = 0;
  #unreadable: unknown;

  constructor(
    queries: readonly PreparedQuery[],
    statements: StatementCache,
    readerOf: (type: number) => (text: string) => unknown,
    callbacks: QueryCallbacks,
  ) {
    this.#queries = queries;
    this.#statements = statements;
    this.#readerOf = readerOf;
    this.#callbacks = callbacks;
    this.#results = queries.map(({ name }) => ({
      name,
      shape: (name !== null && statements.get(name)) || noShape,
      rows: [],
    }));
  }

  submit(connection: pg.Connection): void {
    connection.stream.cork();
    try {
      const parsed = new Set<string>();
      for (const { name, text, values } of this.#queries) {
        const statement = name ?? '';
        const cached = this.#statements.has(statement);
        if (!cached && !parsed.has(statement)) {
          connection.parse({ name: statement, text, types: [] }, true);
        }
        connection.bind({ statement, values }, true);
        if (!cached) connection.describe({ type: 'P' }, true);
        connection.execute(null, true);
        if (name !== null) parsed.add(name);
      }
      connection.sync();
    } catch (error) {
      // A partial batch must not reach the server.
      connection.stream.destroy();
      this.#callbacks.reject(error);
    } finally {
      connection.stream.uncork();
    }
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    const result = this.#results[this.#at];
    if (!result) return;
    result.shape = fields.map(({ name, dataTypeID }) => ({
      name: camelCase(name),
      read: this.#readerOf(dataTypeID),
    }));
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const result = this.#results[this.#at];
    if (!result) return;
    try {
      result.rows.push(parseRow(fields, result.shape));
    } catch (error) {
      this.#unreadable ??= error;
    }
  }

  handleCommandComplete(): void {
    this.#at++;
  }

  handleReadyForQuery(): void {
    this.callback?.();
    // Wrapped, because it may look like an error of the database, which may have committed.
    if (this.#unreadable) {
      this.#callbacks.reject(
        new Error('A row of the response is unreadable.', { cause: this.#unreadable }),
      );
      return;
    }
    for (const { name, shape } of this.#results) {
      if (name !== null) this.#statements.set(name, shape);
    }
    this.#callbacks.resolve(this.#results.map(({ rows }) => rows));
  }

  handleError(error: unknown): void {
    this.callback?.();
    this.#callbacks.reject(error);
  }
}

function parseRow(fields: readonly (string | null)[], shape: Shape): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const [index, { name, read }] of shape.entries()) {
    const text = fields[index] ?? null;
    row[name] = text === null ? null : read(text);
  }
  return row;
}
