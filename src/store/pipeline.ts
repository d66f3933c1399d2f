import type { Socket } from 'node:net';
import pg from 'pg';
import { clientConfig } from './db.ts';
import type { Connection } from './pooler.ts';

/**
 * Clients for the hot paths: statements are sent without waiting for the one before, so a transaction costs two
 * round trips, not one for each statement. Pooled clients cannot do that.
 */

export interface Statement {
  /** Statements are prepared once for each connection under this name, where no pooler stands between. */
  readonly name: string;
  readonly text: string;
}

/** Sends one statement. Sent together, statements run in this order; each gets its own rows or error. */
export type Send = <Row>(statement: Statement, values?: unknown[]) => Promise<Row[]>;

export interface Pipelines {
  /**
   * Lends a connection of its own for one piece of work; a connection that failed is replaced.
   * @param answerTimeoutMs for this piece of work; longer only while answers come
   */
  use<T>(work: (send: Send) => Promise<T>, answerTimeoutMs?: number): Promise<T>;
  /** Ends the connections that nobody uses just now: where one fell silent, the others are dead as well. */
  dropIdle(): void;
  close(): Promise<void>;
}

export interface PipelineOptions {
  readonly connection: Connection;
  /** After so long without an answer the connection counts as dead. */
  readonly answerTimeoutMs: number;
  readonly onError: (error: Error) => void;
}

/**
 * Plans are made once for each connection: to plan the statements of a batch anew costs as much as to run them. They go by
 * indexes only, for a table that was empty when its plan was made would be read from end to end once it is full.
 */
const planning = '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off';

export function openPipelines(options: PipelineOptions): Pipelines {
  const idle: pg.Client[] = [];
  const all = new Set<pg.Client>();
  let closed = false;

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({
      ...clientConfig(options.connection),
      connectionTimeoutMillis: Math.min(5_000, options.answerTimeoutMs),
      pipeline: true,
      ...(!options.connection.pooled && { options: planning }),
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

  function dropIdle(): void {
    for (const client of idle.splice(0)) {
      all.delete(client);
      // No farewell: it would wait for an answer that does not come.
      stream(client)?.destroy();
    }
  }

  return {
    dropIdle,
    async use(work, answerTimeoutMs = options.answerTimeoutMs) {
      if (closed) throw new Error('the connections are closed');
      const client = idle.pop() ?? (await connect());
      let ended = false;
      let answers = 0;
      // What waits for an answer is then told that the connection is gone, and sees for itself what became of it.
      const giveUp = () => {
        stream(client)?.destroy();
        dropIdle();
      };
      // Timers come before sockets: after a moment in which this process was held up, an answer may lie there unread.
      const patience = () =>
        setTimeout(() => {
          const before = answers;
          setImmediate(() => {
            if (ended) return;
            if (answers > before) timer = patience();
            else giveUp();
          });
        }, answerTimeoutMs);
      let timer = patience();
      try {
        const result = await work(sender(client, !options.connection.pooled, () => answers++));
        if (all.has(client)) idle.push(client);
        return result;
      } catch (error) {
        // A connection whose transaction failed half-way is not worth mending.
        drop(client);
        throw error;
      } finally {
        ended = true;
        clearTimeout(timer);
      }
    },
    async close() {
      closed = true;
      await Promise.all([...all].map((client) => client.end().catch(() => {})));
    },
  };
}

/** Whether the database itself refused a statement, so that its transaction certainly did not commit. */
export function isStatementError(error: unknown): error is pg.DatabaseError {
  // Class 57P is the server shutting down, 08 a broken connection: both can hit a commit under way.
  return error instanceof pg.DatabaseError && !/^(57P|08)/.test(error.code ?? '');
}

/** Whether a statement cannot be carried out with these values, whoever tries and however often. */
export function isUnstorable(error: unknown): boolean {
  // Class 22 are values, 23 constraints, 54 limits of the program; a text too long for us fails before it is sent.
  if (error instanceof pg.DatabaseError) return /^(22|23|54)/.test(error.code ?? '');
  return error instanceof RangeError;
}

/**
 * Values are made ready here, where a failure is thrown before anything is sent: `pg` would report it and let the
 * statements behind it, the commit among them, go ahead.
 */
function sender(client: pg.Client, named: boolean, onAnswer: () => void): Send {
  let corked = false;
  // What is sent in one go leaves in one packet: a write of its own for each statement costs more than the statement. It
  // leaves as soon as it is complete: `nextTick` would come after all who are told of the batch before, with nothing to do
  // for the database meanwhile.
  const cork = () => {
    if (corked) return;
    corked = true;
    const open = stream(client);
    open?.cork();
    queueMicrotask(() => {
      corked = false;
      open?.uncork();
    });
  };
  return <Row>({ name, text }: Statement, values: unknown[] = []) => {
    const ready = values.map((value) => (Array.isArray(value) ? arrayText(value) : value));
    cork();
    const query = named ? { name, text, values: ready } : { text, values: ready };
    const rows = client.query(query).then((result) => {
      onAnswer();
      return result.rows as Row[];
    });
    // When a later statement is not sent, nobody waits for this one any more.
    rows.catch(() => {});
    return rows;
  };
}

/** An array as PostgreSQL reads it. */
function arrayText(values: readonly unknown[]): string {
  let text = '{';
  for (const value of values) text += text === '{' ? elementText(value) : `,${elementText(value)}`;
  return `${text}}`;
}

function elementText(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Buffer.isBuffer(value)) return `"\\\\x${value.toString('hex')}"`;
  const text = String(value);
  return special.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`;
}

const special = /["\\]/;

function stream(client: pg.Client): Socket | undefined {
  return (client as unknown as { connection?: { stream?: Socket } }).connection?.stream;
}
