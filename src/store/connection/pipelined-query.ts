import type pg from 'pg';

/**
 * A round trip: statements that leave in one packet and are answered in one. PostgreSQL carries them out in order and
 * passes over those behind one that fails, so they succeed or fail as one; where no transaction is open, they are one. (A
 * commit among them is the last.)
 * `pg` would ask for an answer to each, and both sides would be woken up for each.
 */

export interface PreparedQuery {
  /** Under which the connection keeps the statement; null where a pooler stands between. */
  readonly name: string | null;
  readonly text: string;
  readonly values: (string | Buffer | null)[];
}

/** Where it ends: with the rows of each statement, or with the error of one. */
export interface End {
  resolve(rows: unknown[][]): void;
  reject(error: unknown): void;
}

/** How the rows of a statement are read, field by field. */
type Shape = readonly { readonly name: string; readonly read: (text: string) => unknown }[];

/** The statements that a connection keeps, by name: they are sent and described once. */
export type StatementCache = Map<string, Shape>;

/** What `pg` tells a query of its own about, message by message. */
interface Trip extends pg.Submittable {
  /** Put here by `pg` where the connection has a `query_timeout`, to be told of the end. */
  callback?: () => void;
  handleRowDescription(message: { fields: { name: string; dataTypeID: number }[] }): void;
  handleDataRow(message: { fields: (string | null)[] }): void;
  handleCommandComplete(): void;
  handleReadyForQuery(): void;
  handleError(error: unknown): void;
}

const none: Shape = [];

export function trip(
  stops: readonly PreparedQuery[],
  kept: StatementCache,
  readerOf: (type: number) => (text: string) => unknown,
  { resolve, reject }: End,
): Trip {
  const answers = stops.map(({ name }) => ({
    name,
    shape: (name !== null && kept.get(name)) || none,
    rows: [] as unknown[],
  }));
  let at = 0;
  let unreadable: unknown;

  return {
    submit(connection) {
      connection.stream.cork();
      try {
        const sent = new Set<string>();
        for (const { name, text, values } of stops) {
          const statement = name ?? '';
          const known = kept.has(statement);
          if (!known && !sent.has(statement)) {
            connection.parse({ name: statement, text, types: [] }, true);
          }
          connection.bind({ statement, values }, true);
          if (!known) connection.describe({ type: 'P' }, true);
          connection.execute(null, true);
          if (name !== null) sent.add(name);
        }
        connection.sync();
      } catch (error) {
        // Half of it must not arrive.
        connection.stream.destroy();
        reject(error);
      } finally {
        connection.stream.uncork();
      }
    },
    handleRowDescription({ fields }) {
      const answer = answers[at];
      if (!answer) return;
      answer.shape = fields.map(({ name, dataTypeID }) => ({ name, read: readerOf(dataTypeID) }));
    },
    handleDataRow({ fields }) {
      const answer = answers[at];
      if (!answer) return;
      try {
        answer.rows.push(rowOf(fields, answer.shape));
      } catch (error) {
        unreadable ??= error;
      }
    },
    handleCommandComplete() {
      at++;
    },
    handleReadyForQuery() {
      this.callback?.();
      // Not the error itself: what it says of values is not said by the database, which may have committed.
      if (unreadable) return reject(new Error('an answer cannot be read', { cause: unreadable }));
      for (const { name, shape } of answers) if (name !== null) kept.set(name, shape);
      resolve(answers.map(({ rows }) => rows));
    },
    handleError(error) {
      this.callback?.();
      reject(error);
    },
  };
}

function rowOf(fields: readonly (string | null)[], shape: Shape): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const [index, { name, read }] of shape.entries()) {
    const text = fields[index] ?? null;
    row[name] = text === null ? null : read(text);
  }
  return row;
}
