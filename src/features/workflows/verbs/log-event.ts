import { ownMessage } from '../../../core/execution/own-message.ts';
import type { CallFailureCode } from '../../../core/failure.ts';
import { uuid7 } from '../../../core/id.ts';
import { LruCache } from '../../../core/lru-cache.ts';
import type { Db } from '../../../db/database.ts';
import { logWebhookEvent } from '../statements/webhook-log.ts';

/**
 * The log of inbound webhooks. An event is answered without waiting for it: the response would take longer than that of a
 * webhook that does not exist. Anyone can send events that are not signed, so few of them are written, and no others are
 * displaced.
 */

export interface LoggedEvent {
  readonly webhookId: string;
  readonly atMs: number;
  /** Whether its sender has signed it and may send more now. */
  readonly isExpected: boolean;
  readonly signed: boolean;
  readonly eventId: string | null;
  readonly status: number;
  readonly runId: string | null;
  /** Null if it was received. */
  readonly failure: {
    readonly code: CallFailureCode;
    readonly message: string;
    readonly fields: Readonly<Record<string, unknown>>;
  } | null;
}

export interface WebhookLog {
  add(event: LoggedEvent): void;
  /** Resolves once what this process has added is written. */
  written(): Promise<void>;
}

/** Per webhook, minute and process. */
const unexpectedPerMinute = 10;
const webhooksMax = 10_000;
const eventIdMax = 255;

export function createWebhookLog(db: Db, onError: (error: unknown) => void): WebhookLog {
  const minutes = new LruCache<{ readonly minute: number; logged: number }>(webhooksMax);
  const writes = new Set<Promise<void>>();

  function mayLog({ webhookId, atMs }: LoggedEvent): boolean {
    const minute = Math.floor(atMs / 60_000);
    const last = minutes.get(webhookId);
    const count = last?.minute === minute ? last : { minute, logged: 0 };
    if (count.logged >= unexpectedPerMinute) return false;
    count.logged++;
    minutes.set(webhookId, count);
    return true;
  }

  return {
    add(event) {
      if (!event.isExpected && !mayLog(event)) return;
      const { webhookId, atMs, signed, status, runId, failure } = event;
      const eventId = event.eventId?.slice(0, eventIdMax).replaceAll('\0', '') ?? null;
      const code = failure?.code ?? null;
      const message = failure && ownMessage(failure);
      const row = { webhookId, signed, status, runId, eventId, code, message };
      const write = logWebhookEvent(db, { ...row, id: uuid7(atMs) })
        .catch(onError)
        .finally(() => writes.delete(write));
      writes.add(write);
    },
    written: async () => void (await Promise.all(writes)),
  };
}
