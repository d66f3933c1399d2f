import { sql } from 'kysely';
import type pg from 'pg';
import { Client, clientConfig, type Db } from './database.ts';
import type { Connection } from './detect-pooler.ts';

/**
 * Hints between processes over LISTEN/NOTIFY. Only hints: everything works without them, a little later, so a
 * pooler that cannot LISTEN or a lost connection costs time and nothing else.
 */
export type Channel =
  | 'cueline_queued'
  | 'cueline_execution_ended'
  | 'cueline_canceled'
  | 'cueline_workflow_run_ended';

export interface Bus {
  /** Sent at once, or with others where many come; never in anybody's transaction. */
  publish(channel: Channel, ids?: readonly string[]): void;
  subscribe(channel: Channel, listener: (ids: string[]) => void): void;
  close(): Promise<void>;
}

/** From one send to the next at least: what comes in between goes together. */
const throttleMs = 20;
/** A payload may have 8,000 bytes; an id and a blank have 37. */
const idsMax = 200;
const reconnectMs = 1_000;

export function openNotifications(options: {
  readonly db: Db;
  readonly connection: Connection;
  readonly onError: (error: unknown) => void;
}): Bus {
  const listeners = new Map<Channel, ((ids: string[]) => void)[]>();
  const pending = new Map<Channel, Set<string>>();
  let sending = false;
  let sentAt = Number.NEGATIVE_INFINITY;
  let closed = false;
  let client: pg.Client | null = null;
  let reconnect: NodeJS.Timeout | undefined;
  let throttle: NodeJS.Timeout | undefined;
  if (!options.connection.pooled) void connect();

  async function connect(): Promise<void> {
    // Without statement_timeout and the like: this connection only waits.
    const fresh = new Client({
      ...clientConfig(options.connection),
      connectionTimeoutMillis: 5_000,
    });
    const lost = (error?: unknown) => {
      if (closed || client !== fresh) return;
      client = null;
      if (error) options.onError(error);
      fresh.end().catch(() => {});
      reconnect = setTimeout(() => void connect(), reconnectMs);
    };
    client = fresh;
    fresh.on('error', lost);
    fresh.on('end', () => lost());
    fresh.on('notification', ({ channel, payload }) => {
      const ids = payload ? payload.split(' ') : [];
      for (const listener of listeners.get(channel as Channel) ?? []) listener(ids);
    });
    try {
      await fresh.connect();
      await fresh.query(
        'listen cueline_queued; listen cueline_execution_ended; listen cueline_canceled; listen cueline_workflow_run_ended',
      );
    } catch (error) {
      lost(error);
    }
  }

  async function send(): Promise<void> {
    sentAt = performance.now();
    try {
      for (const [channel, ids] of [...pending]) {
        pending.delete(channel);
        const all = [...ids];
        for (let at = 0; at === 0 || at < all.length; at += idsMax) {
          await sql`select pg_notify(${channel}, ${all.slice(at, at + idsMax).join(' ')})`.execute(
            options.db,
          );
        }
      }
    } catch (error) {
      options.onError(error);
    } finally {
      sending = false;
      if (pending.size > 0 && !closed) schedule();
    }
  }

  function schedule(): void {
    if (sending || closed) return;
    sending = true;
    throttle = setTimeout(() => void send(), Math.max(0, sentAt + throttleMs - performance.now()));
  }

  return {
    publish(channel, ids = []) {
      const set = pending.get(channel) ?? new Set();
      for (const id of ids) set.add(id);
      pending.set(channel, set);
      schedule();
    },
    subscribe(channel, listener) {
      listeners.set(channel, [...(listeners.get(channel) ?? []), listener]);
    },
    async close() {
      closed = true;
      clearTimeout(reconnect);
      clearTimeout(throttle);
      await client?.end().catch(() => {});
    },
  };
}
