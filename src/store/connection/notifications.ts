import { sql } from 'kysely';
import type pg from 'pg';
import { Client, clientConfig, type Db } from './database.ts';
import type { Connection } from './detect-pooler.ts';

/**
 * Notifications between processes over LISTEN/NOTIFY. They only reduce latency: every receiver also polls. Without them, for
 * example behind a pooler or while the connection is lost, everything still works, a little later.
 */
const channels = [
  'cueline_execution_queued',
  'cueline_execution_ended',
  'cueline_execution_streamed',
  'cueline_execution_canceled',
  'cueline_workflow_run_ended',
  'cueline_event_queued',
  'cueline_tool_call_canceled',
] as const;
export type Channel = (typeof channels)[number];

type Listener = (ids: string[]) => void;

export interface Notifications {
  /** Sends soon, possibly together with other ids; never inside a transaction of the caller. */
  publish(channel: Channel, ids?: readonly string[]): void;
  subscribe(channel: Channel, listener: Listener): void;
  close(): Promise<void>;
}

/** The minimum interval between two sends. Ids that arrive in between are sent together. */
const sendIntervalMs = 20;
/** A payload holds at most 8,000 bytes; an id and a space take 37. */
const idsPerPayloadMax = 200;
const reconnectMs = 1_000;

export function openNotifications(options: {
  readonly db: Db;
  readonly connection: Connection;
  readonly onError: (error: unknown) => void;
}): Notifications {
  const listeners = new Map<Channel, Listener[]>();
  const receiver = new NotificationReceiver(options.connection, options.onError, listeners);
  const sender = new NotificationSender(options.db, options.onError);
  if (!options.connection.pooled) void receiver.connect();

  return {
    publish: (channel, ids = []) => sender.add(channel, ids),
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
    try {
      for (const [channel, pending] of [...this.#pending]) {
        this.#pending.delete(channel);
        const ids = [...pending];
        for (let at = 0; at === 0 || at < ids.length; at += idsPerPayloadMax) {
          const payload = ids.slice(at, at + idsPerPayloadMax).join(' ');
          await sql`select pg_notify(${channel}, ${payload})`.execute(this.#db);
        }
      }
    } catch (error) {
      this.#onError(error);
    } finally {
      this.#scheduled = false;
      if (this.#pending.size > 0) this.#schedule();
    }
  }
}

/** Listens on all channels over a connection of its own, and reconnects after it is lost. */
class NotificationReceiver {
  readonly #connection: Connection;
  readonly #onError: (error: unknown) => void;
  readonly #listeners: ReadonlyMap<string, readonly Listener[]>;
  #client: pg.Client | null = null;
  #closed = false;
  #reconnect: NodeJS.Timeout | undefined;

  constructor(
    connection: Connection,
    onError: (error: unknown) => void,
    listeners: ReadonlyMap<string, readonly Listener[]>,
  ) {
    this.#connection = connection;
    this.#onError = onError;
    this.#listeners = listeners;
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
    } catch (error) {
      lost(error);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#reconnect);
    await this.#client?.end().catch(() => {});
  }

  #lose(client: pg.Client, error: unknown): void {
    if (this.#closed || this.#client !== client) return;
    this.#client = null;
    if (error) this.#onError(error);
    client.end().catch(() => {});
    this.#reconnect = setTimeout(() => void this.connect(), reconnectMs);
  }
}
