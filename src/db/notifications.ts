import type { Socket } from 'node:net';
import type pg from 'pg';
import { Client } from './client.ts';
import type { Connection } from './connection.ts';
import { clientConfig, type Db } from './database.ts';
import { ResponseTimer } from './response-timer.ts';
import { sql } from './sql.ts';

/**
 * What has changed, for all that wait for it: in this process at once, in other processes over LISTEN/NOTIFY. Publish it after
 * the commit of the change. The subscribers of this process may hear the same twice.
 *
 * Invariant: notifications only reduce latency. Every receiver also polls, so without them, for example behind a pooler,
 * everything still works, a little later. What must not be lost belongs into the transaction.
 *
 * Failure cases
 * - The receiver's connection is lost: it connects again every second. What was sent meanwhile is lost.
 * - The server is silent, as after a failover without a reset: a regular check notices it and closes the connections.
 * - Sending fails: the ids are dropped.
 */
const channels = [
  'cueline_execution_queued',
  'cueline_execution_ended',
  'cueline_execution_streamed',
  'cueline_execution_canceled',
  'cueline_workflow_run_advanced',
  'cueline_workflow_run_ended',
  'cueline_event_queued',
  'cueline_batch_uploaded',
  'cueline_tool_call_canceled',
] as const;
export type Channel = (typeof channels)[number];

type Listener = (ids: readonly string[]) => void;

export interface Notifications {
  /**
   * Calls the subscribers of this process, and sends soon, possibly together with other ids; never inside a transaction of the
   * caller. An empty list publishes nothing.
   */
  publish(channel: Channel, ids?: readonly string[]): void;
  subscribe(channel: Channel, listener: Listener): void;
  close(): Promise<void>;
}

/** The minimum interval between two sends. Ids that arrive in between are sent together. */
const sendIntervalMs = 5;
/** A payload holds at most 8,000 bytes; an id and a space take 37. */
const idsPerPayloadMax = 200;
const reconnectMs = 1_000;
const checkMsDefault = 5_000;

export interface NotificationOptions {
  readonly db: Db;
  readonly connection: Connection;
  readonly onError: (error: unknown) => void;
  /** How often the receiver checks that its server responds, and how long it waits for that. */
  readonly checkMs?: number;
}

export function openNotifications(options: NotificationOptions): Notifications {
  const listeners = new Map<Channel, Listener[]>();
  const receiver = new NotificationReceiver(options, listeners);
  const sender = new NotificationSender(options.db, options.onError);
  if (!options.connection.pooled) void receiver.connect();

  return {
    publish(channel, ids) {
      if (ids?.length === 0) return;
      for (const listener of listeners.get(channel) ?? []) listener(ids ?? []);
      sender.add(channel, ids ?? []);
    },
    subscribe(channel, listener) {
      listeners.set(channel, [...(listeners.get(channel) ?? []), listener]);
    },
    async close() {
      sender.close();
      await receiver.close();
    },
  };
}

/** Collects ids per channel and sends them at most once per interval. */
class NotificationSender {
  readonly #db: Db;
  readonly #onError: (error: unknown) => void;
  readonly #pending = new Map<Channel, Set<string>>();
  #scheduled = false;
  #sentAt = Number.NEGATIVE_INFINITY;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Db, onError: (error: unknown) => void) {
    this.#db = db;
    this.#onError = onError;
  }

  add(channel: Channel, ids: readonly string[]): void {
    const pending = this.#pending.get(channel) ?? new Set();
    for (const id of ids) pending.add(id);
    this.#pending.set(channel, pending);
    this.#schedule();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#scheduled || this.#closed) return;
    this.#scheduled = true;
    const waitMs = Math.max(0, this.#sentAt + sendIntervalMs - performance.now());
    this.#timer = setTimeout(() => void this.#send(), waitMs);
  }

  async #send(): Promise<void> {
    this.#sentAt = performance.now();
    const sent = [...this.#pending].flatMap(([channel, pending]) => payloadsOf(channel, pending));
    this.#pending.clear();
    try {
      // One transaction, because each commit waits for the disk.
      await sql`
        select pg_notify(channel, payload)
        from unnest(${sent.map(({ channel }) => channel)}::text[], ${sent.map(({ payload }) => payload)}::text[])
          as sent (channel, payload)`.execute(this.#db);
    } catch (error) {
      this.#onError(error);
    } finally {
      this.#scheduled = false;
      if (this.#pending.size > 0) this.#schedule();
    }
  }
}

function payloadsOf(channel: Channel, pending: ReadonlySet<string>) {
  const ids = [...pending];
  const count = Math.max(1, Math.ceil(ids.length / idsPerPayloadMax));
  return Array.from({ length: count }, (_, at) => ({
    channel,
    payload: ids.slice(at * idsPerPayloadMax, (at + 1) * idsPerPayloadMax).join(' '),
  }));
}

/**
 * Listens on all channels over a connection of its own, and reconnects after it is lost. If its server is silent, all idle
 * connections of the process are closed: a frozen server would answer them from the past when it is resumed.
 */
class NotificationReceiver {
  readonly #connection: Connection;
  readonly #onError: (error: unknown) => void;
  readonly #checkMs: number;
  readonly #listeners: ReadonlyMap<string, readonly Listener[]>;
  #client: pg.Client | null = null;
  #closed = false;
  #reconnect: NodeJS.Timeout | undefined;
  #check: NodeJS.Timeout | undefined;

  constructor(
    { connection, onError, checkMs = checkMsDefault }: NotificationOptions,
    listeners: ReadonlyMap<string, readonly Listener[]>,
  ) {
    this.#connection = connection;
    this.#onError = onError;
    this.#checkMs = checkMs;
    this.#listeners = listeners;
    // After a failover the connection looks alive, and would stay silent for hours.
    connection.idle?.add(() =>
      this.#replace('another connection received nothing or was read-only'),
    );
  }

  async connect(): Promise<void> {
    const client = new Client(clientConfig(this.#connection));
    const lost = (error?: unknown) => this.#lose(client, error);
    this.#client = client;
    client.on('error', lost);
    client.on('end', () => lost());
    client.on('notification', ({ channel, payload }) => {
      const ids = payload ? payload.split(' ') : [];
      for (const listener of this.#listeners.get(channel) ?? []) listener(ids);
    });
    try {
      await client.connect();
      await client.query(channels.map((channel) => `listen ${channel}`).join('; '));
      if (!this.#closed && this.#client === client) this.#checkLater(client);
    } catch (error) {
      lost(error);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#reconnect);
    clearTimeout(this.#check);
    await this.#client?.end().catch(() => {});
  }

  #checkLater(client: pg.Client): void {
    this.#check = setTimeout(() => void this.#checkServer(client), this.#checkMs);
  }

  async #checkServer(client: pg.Client): Promise<void> {
    const timer = new ResponseTimer(this.#checkMs, () => {
      this.#replace(`the server did not respond within ${this.#checkMs} ms`);
      this.#connection.idle?.close();
    });
    // The client reports its errors itself.
    await client.query('select 1').catch(() => {});
    timer.stop();
    if (!this.#closed && this.#client === client) this.#checkLater(client);
  }

  /** Connects again. */
  #replace(reason: string): void {
    if (this.#client) this.#lose(this.#client, new Error(`closed because ${reason}`));
  }

  #lose(client: pg.Client, error: unknown): void {
    if (this.#closed || this.#client !== client) return;
    this.#client = null;
    clearTimeout(this.#check);
    if (error) this.#onError(error);
    // `end` alone would wait for a response of a server that is lost.
    client.end().catch(() => {});
    (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
    this.#reconnect = setTimeout(() => void this.connect(), reconnectMs);
  }
}
