import type { Socket } from 'node:net';
import type pg from 'pg';
import { Semaphore } from '../core/semaphore.ts';
import { arrayLiteral } from './array-literal.ts';
import { Client } from './client.ts';
import type { Connection } from './connection.ts';
import { clientConfig } from './database.ts';
import { DatabaseUnavailable } from './database-error.ts';
import { IdleConnections } from './idle-connections.ts';
import { PipelinedQuery, type PreparedQuery, type StatementCache } from './pipelined-query.ts';
import { ResponseTimer } from './response-timer.ts';
import type { Statement } from './statement.ts';
import { commit } from './statements.ts';
import type { Value } from './value.ts';

/**
 * Pipelined connections for the hot paths: admission, finish, polls and heartbeat.
 *
 * Statements that are sent in the same microtask form a batch. A batch is one round trip, so a transaction costs two round
 * trips instead of one per statement. Each statement is prepared once per connection.
 *
 * A client is lent to one piece of work, or idle, or closed. A semaphore limits the number of lent clients.
 *
 * Invariants
 * - Statements of a batch run in order. They succeed together or fail together with the same error.
 * - A client is never reused after a statement on it failed.
 * - Nothing follows a commit: in its batch, a later error would make the commit look failed; after it, the statement would run
 *   outside of the transaction.
 * - Values are serialized before anything is sent: a failure there must not let the commit proceed.
 *
 * Failure cases
 * - A statement fails: the client is closed. Its slot is free at once, before the work ends, because the work may look up
 *   the outcome of its commit on another connection.
 * - No response arrives in time: the socket is destroyed, and all idle ones with it, which are dead too after a failover.
 *   The pending statements fail, and the work decides what to do.
 * - No client becomes free in time: the work fails as unavailable.
 */

/** Adds a statement to the current batch. Resolves to its rows. Throws after the commit: nothing may follow it. */
export interface Send {
  <Row>(statement: Statement<void, Row>): Promise<Row[]>;
  <Input, Row>(statement: Statement<Input, Row>, input: Input): Promise<Row[]>;
}

export interface Pipelines {
  /**
   * Lends a connection exclusively to `work`; waits while all are lent.
   * @param responseTimeoutMs limits the wait for a connection, and the time without any response from it
   */
  use<T>(work: (send: Send) => Promise<T>, responseTimeoutMs?: number): Promise<T>;
  /** Closes idle connections: if one connection died silently, the others are dead too. */
  dropIdle(): void;
  close(): Promise<void>;
}

export interface PipelineOptions {
  readonly connection: Connection;
  /** Maximum number of connections. They stay open. */
  readonly connectionsMax: number;
  /** A connection without a response for this time counts as dead. */
  readonly responseTimeoutMs: number;
  readonly onError: (error: Error) => void;
}

/**
 * Generic plans: planning a batch costs as much as running it. Sequential scans are off because a plan that was made for an
 * empty table would scan the table when it is large.
 */
const planning = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' };

export function openPipelines(options: PipelineOptions): Pipelines {
  const clients = new PipelineClients(options);
  const slots = new Semaphore(options.connectionsMax);
  const pending = new Set<Promise<unknown>>();
  let closed = false;

  async function lend<T>(work: (send: Send) => Promise<T>, responseTimeoutMs: number): Promise<T> {
    if (closed) throw new Error('The connections are closed.');
    if (!(await slots.acquire(responseTimeoutMs))) {
      throw new DatabaseUnavailable(`no connection became free within ${responseTimeoutMs} ms`);
    }
    let released = false;
    const release = () => {
      if (!released) slots.release();
      released = true;
    };
    try {
      return await clients.use(work, { responseTimeoutMs, onFailure: release });
    } finally {
      release();
    }
  }

  return {
    dropIdle: () => clients.dropIdle(),
    use(work, responseTimeoutMs = options.responseTimeoutMs) {
      const done = lend(work, responseTimeoutMs);
      const ended = () => void pending.delete(done);
      pending.add(done);
      done.then(ended, ended);
      return done;
    },
    async close() {
      closed = true;
      // Closing a client would interrupt its work.
      await Promise.allSettled(pending);
      await clients.close();
    },
  };
}

/** The open clients of one `Pipelines`, lent or idle. */
class PipelineClients {
  readonly #options: PipelineOptions;
  readonly #idle: pg.Client[] = [];
  readonly #statements = new Map<pg.Client, StatementCache>();

  readonly #allIdle: IdleConnections;

  constructor(options: PipelineOptions) {
    this.#allIdle = options.connection.idle ?? new IdleConnections();
    this.#options = { ...options, connection: { ...options.connection, idle: this.#allIdle } };
    this.#allIdle.add(() => this.dropIdle());
  }

  /** Runs `work` on an idle or new client. Calls `onFailure` as soon as a statement fails. */
  async use<T>(
    work: (send: Send) => Promise<T>,
    { responseTimeoutMs, onFailure }: { responseTimeoutMs: number; onFailure: () => void },
  ): Promise<T> {
    const client = this.#idle.pop() ?? (await this.#connect());
    let failed = false;
    const timer = new ResponseTimer(responseTimeoutMs, () => {
      streamOf(client)?.destroy();
      this.dropIdle();
      this.#allIdle.close();
    });
    try {
      const send = createSend(client, {
        statements: this.#options.connection.pooled ? null : this.#statementsOf(client),
        onResponse: () => timer.onResponse(),
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
      timer.stop();
      if (failed) this.#drop(client);
      else if (this.#statements.has(client)) this.#idle.push(client);
    }
  }

  dropIdle(): void {
    for (const client of this.#idle.splice(0)) {
      this.#statements.delete(client);
      // `client.end()` would wait for a response that never comes.
      streamOf(client)?.destroy();
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#statements.keys()].map((client) => client.end().catch(() => {})));
  }

  async #connect(): Promise<pg.Client> {
    const { connection, responseTimeoutMs, onError } = this.#options;
    const config = clientConfig(connection);
    const client = new Client({
      ...config,
      connectionTimeoutMillis: Math.min(config.connectionTimeoutMillis, responseTimeoutMs),
      settings: { ...config.settings, ...(!connection.pooled && planning) },
    });
    client.on('error', (error) => {
      this.#drop(client);
      onError(error);
    });
    await client.connect();
    this.#statements.set(client, new Map());
    return client;
  }

  #drop(client: pg.Client): void {
    this.#statements.delete(client);
    const at = this.#idle.indexOf(client);
    if (at >= 0) this.#idle.splice(at, 1);
    client.end().catch(() => {});
  }

  #statementsOf(client: pg.Client): StatementCache | null {
    return this.#statements.get(client) ?? null;
  }
}

interface SendDeps {
  /** Null behind a pooler, which may route the next statement to another session. */
  readonly statements: StatementCache | null;
  readonly onResponse: () => void;
  readonly onFailure: () => void;
}

interface Batch {
  readonly queries: PreparedQuery[];
  readonly response: Promise<unknown[][]>;
}

function createSend(client: pg.Client, { statements, onResponse, onFailure }: SendDeps): Send {
  let batch: Batch | null = null;
  let isCommitted = false;
  const readerOf = (type: number) => client.getTypeParser(type, 'text');

  /**
   * The batch leaves in a microtask. `nextTick` would run after everyone who waits for the previous batch, while the
   * database has nothing to do.
   */
  function startBatch(): Batch {
    const queries: PreparedQuery[] = [];
    const { promise: response, ...end } = Promise.withResolvers<unknown[][]>();
    response.then(onResponse, onFailure);
    queueMicrotask(() => {
      batch = null;
      client.query(new PipelinedQuery(queries, statements ?? new Map(), readerOf, end));
    });
    return { queries, response };
  }

  return <Input, Row>(statement: Statement<Input, Row>, input?: Input) => {
    const { name, text } = statement;
    if (isCommitted) throw new Error(`${name} follows the commit.`);
    const values = statement.values(input as Input);
    const serialized = values.map(serialize);
    isCommitted = text === commit.text;
    batch ??= startBatch();
    const query = { name: statements ? name : null, text, values: serialized };
    const at = batch.queries.push(query) - 1;
    const rows = batch.response.then((responses) => responses[at] as Row[]);
    // If a later value cannot be serialized, nobody awaits this promise.
    rows.catch(() => {});
    return rows;
  };
}

function serialize(value: Value): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return arrayLiteral(value);
  return Buffer.isBuffer(value) ? value : String(value);
}

function streamOf(client: pg.Client): Socket | undefined {
  return (client as unknown as { connection?: { stream?: Socket } }).connection?.stream;
}
