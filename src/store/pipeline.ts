import pg from 'pg';
import { clientConfig } from './db.ts';

/**
 * Clients for the hot paths: statements are sent without waiting for the one before, so a transaction costs two
 * round trips, not one for each statement. Pooled clients cannot do that.
 */

export interface Statement {
  /** Statements are prepared once for each connection under this name. */
  readonly name: string;
  readonly text: string;
}

/** Sends one statement. Sent together, statements run in this order; each gets its own rows or error. */
export type Send = <Row>(statement: Statement, values?: unknown[]) => Promise<Row[]>;

export interface Pipelines {
  /** Lends a connection of its own for one piece of work; a connection that failed is replaced. */
  use<T>(work: (send: Send) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface PipelineOptions {
  readonly connection: pg.ClientConfig;
  /** After so long without an answer the connection counts as dead. */
  readonly answerTimeoutMs: number;
  readonly onError: (error: Error) => void;
}

export function openPipelines(options: PipelineOptions): Pipelines {
  const idle: pg.Client[] = [];
  const all = new Set<pg.Client>();
  let closed = false;

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({
      ...clientConfig(options.connection),
      connectionTimeoutMillis: 5_000,
      pipeline: true,
    });
    client.on('error', (error) => {
      drop(client);
      options.onError(error);
    });
    await client.connect();
    all.add(client);
    return client;
  }

  function drop(client: pg.Client): void {
    all.delete(client);
    const at = idle.indexOf(client);
    if (at >= 0) idle.splice(at, 1);
    client.end().catch(() => {});
  }

  return {
    async use(work) {
      if (closed) throw new Error('the connections are closed');
      const client = idle.pop() ?? (await connect());
      const { promise: silence, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(() => {
        reject(new ConnectionLost('the database did not answer'));
        stream(client)?.destroy();
      }, options.answerTimeoutMs);
      try {
        const result = await Promise.race([work(sender(client)), silence]);
        if (all.has(client)) idle.push(client);
        return result;
      } catch (error) {
        // A connection whose transaction failed half-way is not worth mending.
        drop(client);
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
    async close() {
      closed = true;
      await Promise.all([...all].map((client) => client.end().catch(() => {})));
    },
  };
}

/** Thrown when the connection, not the statement, failed: whether the work was committed is not known. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

/** Whether the database itself refused a statement, so that its transaction certainly did not commit. */
export function isStatementError(error: unknown): error is pg.DatabaseError {
  // Class 57P is the server shutting down, 08 a broken connection: both can hit a commit under way.
  return error instanceof pg.DatabaseError && !/^(57P|08)/.test(error.code ?? '');
}

function sender(client: pg.Client): Send {
  return async (statement, values = []) => {
    const { rows } = await client.query({ name: statement.name, text: statement.text, values });
    return rows;
  };
}

function stream(client: pg.Client): { destroy(): void } | undefined {
  return (client as unknown as { connection?: { stream?: { destroy(): void } } }).connection
    ?.stream;
}
