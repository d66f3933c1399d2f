import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { streamHeartbeatMs } from '../../contract/limits.ts';
import { asCallFailure } from './error-response.ts';
import { toJson } from './json-response.ts';

/** Responses of server-sent events. */

/** An event as it is sent. A client that reconnects names the last `id` that it received. */
export interface SentEvent {
  /** Left out for events without a name. */
  readonly event?: string;
  readonly id?: string;
  readonly data: unknown;
}

export const eventStreamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Some proxies collect a response before they pass it on.
  'x-accel-buffering': 'no',
} as const;

export function asksForStream({ headers }: FastifyRequest): boolean {
  return /\btext\/event-stream\b/i.test(headers.accept ?? '');
}

/**
 * Sends events no faster than the client reads them: the next one is requested once the previous one is sent.
 * `disconnectSlowReaders` ends it for a client that reads too slowly. While nothing happens, a comment keeps the
 * connection open. Aborts `stopping` at its end.
 * @param check runs every 15 s, and ends the stream by an error
 */
export function eventStream(
  events: AsyncGenerator<SentEvent, void, undefined>,
  { log }: FastifyRequest,
  {
    stopping,
    check,
  }: { readonly stopping: AbortController; readonly check: () => Promise<unknown> },
): Readable {
  const texts = withHeartbeat(events, check, stopping);
  const stream = Readable.from(texts, { objectMode: false, highWaterMark: 0 });
  stream.once('close', () => stopping.abort());
  // The client sees only a response without its last chunk.
  stream.once('error', (error) => log.warn({ err: error }, 'stream aborted'));
  return stream;
}

async function* withHeartbeat(
  events: AsyncGenerator<SentEvent, void, undefined>,
  check: () => Promise<unknown>,
  stopping: AbortController,
): AsyncGenerator<string, void, undefined> {
  let checkedAt = performance.now();
  let next = events.next();
  try {
    for (;;) {
      const result = await within(next, streamHeartbeatMs);
      if (result === null || performance.now() - checkedAt >= streamHeartbeatMs) {
        await check().catch((error: unknown) => {
          // The next check decides: a short outage must not cost a paid answer.
          if (asCallFailure(error)?.code !== 'UNAVAILABLE') throw error;
        });
        checkedAt = performance.now();
      }
      if (result === null) {
        yield ':\n\n';
        continue;
      }
      if (result.done) return;
      yield textOf(result.value);
      next = events.next();
    }
  } finally {
    // First: `return` waits for what the events wait for.
    stopping.abort();
    next.catch(() => {});
    await events.return();
  }
}

/** Null if the time passes first. */
async function within<T>(work: Promise<T>, ms: number): Promise<T | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, ms, null);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function textOf({ event, id, data }: SentEvent): string {
  return `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}data: ${toJson(data)}\n\n`;
}
