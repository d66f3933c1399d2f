import type { Socket } from 'node:net';
import type pg from 'pg';
import { Client, clientConfig } from './database.ts';
import type { Connection } from './detect-pooler.ts';
import { type PreparedQuery, type StatementCache, trip } from './pipelined-query.ts';
import { createSemaphore } from './semaphore.ts';

/**
 * Connections for the hot paths: statements sent together are one round trip, so a transaction costs two, not one for each
 * statement.
 */

export interface Statement {
  /** Statements are prepared once for each connection under this name, where no pooler stands between. */
  readonly name: string;
  readonly text: string;
}

/**
 * Sends one statement. Sent together, statements run in this order and are answered together: each with its rows, or all with
 * the error of the one that failed. Once one has failed, the connection is not used again. Nothing is sent together with a
 * commit after it: what fails there would say of the commit that it failed.
 */
export type Send = <Row>(statement: Statement, values?: readonly Value[]) => Promise<Row[]>;

/** Bytes travel as bytes, all else as text. */
export type Value = string | number | boolean | Buffer | null | undefined | readonly Value[];

export interface Pipelines {
  /**
   * Lends a connection of its own for one piece of work, which waits in line where all are lent. A connection that failed
   * is replaced, and its place is free at once: who looks up what became of a commit does so while holding the dead one.
   * @param responseTimeoutMs for this piece of work; longer only while answers come; and as long in line
   */
  use<T>(work: (send: Send) => Promise<T>, responseTimeoutMs?: number): Promise<T>;
  /** Ends the connections that nobody uses just now: where one fell silent, the others are dead as well. */
  dropIdle(): void;
  close(): Promise<void>;
}

export interface PipelineOptions {
  readonly connection: Connection;
  /** Lent at once at most. They stay open. */
  readonly connectionsMax: number;
  /** After so long without an answer the connection counts as dead. */
  readonly responseTimeoutMs: number;
  readonly onError: (error: Error) => void;
}

/**
 * Plans are made once for each connection: to plan the statements of a batch anew costs as much as to run them. They go by
 * indexes only, for a table that was empty when its plan was made would be read from end to end once it is full.
 */
const planning = '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off';

export function openPipelines(options: PipelineOptions): Pipelines {
  const idle: pg.Client[] = [];
  const all = new Map<pg.Client, StatementCache>();
  const lent = new Set<Promise<unknown>>();
  const places = createSemaphore(options.connectionsMax);
  let closed = false;

  async function connect(): Promise<pg.Client> {
    const client = new Client({
      ...clientConfig(options.connection),
      connectionTimeoutMillis: Math.min(5_000, options.responseTimeoutMs),
      ...(!options.connection.pooled && { options: planning }),
    });
    client.on('error', (error) => {
      drop(client);
      options.onError(error);
    });
    await client.connect();
    all.set(client, new Map());
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

  async function lend<T>(work: (send: Send) => Promise<T>, responseTimeoutMs: number): Promise<T> {
    if (closed) throw new Error('the connections are closed');
    await places.take(responseTimeoutMs);
    let placed = true;
    const leave = () => {
      if (placed) places.giveBack();
      placed = false;
    };
    try {
      const client = idle.pop() ?? (await connect());
      return await over(client, work, { responseTimeoutMs, onFailure: leave });
    } finally {
      leave();
    }
  }

  async function over<T>(
    client: pg.Client,
    work: (send: Send) => Promise<T>,
    { responseTimeoutMs, onFailure }: { responseTimeoutMs: number; onFailure: () => void },
  ): Promise<T> {
    let ended = false;
    let failed = false;
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
      }, responseTimeoutMs);
    let timer = patience();
    try {
      const send = sender(client, {
        kept: options.connection.pooled ? null : (all.get(client) ?? null),
        onAnswer: () => answers++,
        onFailure: () => {
          failed = true;
          onFailure();
        },
      });
      return await work(send);
    } catch (error) {
      failed = true;
      throw error;
    } finally {
      ended = true;
      clearTimeout(timer);
      // A connection whose transaction failed half-way is not worth mending.
      if (failed) drop(client);
      else if (all.has(client)) idle.push(client);
    }
  }

  return {
    dropIdle,
    use(work, responseTimeoutMs = options.responseTimeoutMs) {
      const done = lend(work, responseTimeoutMs);
      const ended = () => void lent.delete(done);
      lent.add(done);
      done.then(ended, ended);
      return done;
    },
    async close() {
      closed = true;
      // The end of a client breaks off what it is at.
      await Promise.allSettled(lent);
      await Promise.all([...all.keys()].map((client) => client.end().catch(() => {})));
    },
  };
}

interface SenderDeps {
  /** Null where a pooler stands between, which may send the next statement to another connection. */
  readonly kept: StatementCache | null;
  readonly onAnswer: () => void;
  readonly onFailure: () => void;
}

interface Together {
  readonly stops: PreparedQuery[];
  readonly answer: Promise<unknown[][]>;
}

function sender(client: pg.Client, { kept, onAnswer, onFailure }: SenderDeps): Send {
  let together: Together | null = null;
  const readerOf = (type: number) => client.getTypeParser(type, 'text');

  /**
   * What is sent in one go leaves as soon as it is complete: `nextTick` would come after all who are told of the batch
   * before, with nothing to do for the database meanwhile.
   */
  function setOut(): Together {
    const stops: PreparedQuery[] = [];
    const { promise: answer, ...end } = Promise.withResolvers<unknown[][]>();
    answer.then(onAnswer, onFailure);
    queueMicrotask(() => {
      together = null;
      client.query(trip(stops, kept ?? new Map(), readerOf, end));
    });
    return { stops, answer };
  }

  return <Row>({ name, text }: Statement, values: readonly Value[] = []) => {
    // Made ready before anything is sent: what fails here must not let the commit behind it go ahead.
    const ready = values.map(sentAs);
    together ??= setOut();
    const at = together.stops.push({ name: kept ? name : null, text, values: ready }) - 1;
    const rows = together.answer.then((answers) => answers[at] as Row[]);
    // When a later statement is not sent, nobody waits for this one any more.
    rows.catch(() => {});
    return rows;
  };
}

/** A value as it travels: `Buffer` as bytes, anything else as text. */
function sentAs(value: Value): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return arrayText(value);
  return Buffer.isBuffer(value) ? value : String(value);
}

/** An array as PostgreSQL reads it. */
function arrayText(values: readonly Value[]): string {
  let text = '{';
  for (const value of values) text += text === '{' ? elementText(value) : `,${elementText(value)}`;
  return `${text}}`;
}

function elementText(value: Value): string {
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
