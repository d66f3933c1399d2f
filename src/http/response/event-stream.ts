import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setImmediate as immediate } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import { type ByteShares, bytesOf } from '../../core/byte-shares.ts';
import { streamHeartbeatMs } from '../contract/contract-limits.ts';
import { asCallFailure } from './error-response.ts';
import { jsonSlices } from './json-response.ts';

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

/** Characters that one stream writes in a turn of the event loop. */
const turnCharsMax = 262_144;

/** What a stream is read from. */
type EventSource = Pick<AsyncGenerator<SentEvent, void, undefined>, 'next' | 'return'>;

export function asksForStream({ headers }: FastifyRequest): boolean {
  return /\btext\/event-stream\b(?![^,]*;\s*q=0(?:\.0*)?\s*(?:[,;]|$))/i.test(headers.accept ?? '');
}

/** Sends the bodies that are event streams. Runs after all other hooks, because they complete the headers. */
export function addEventStreamHook(app: FastifyInstance): void {
  const sendEventStream: onSendHookHandler = (_request, reply, payload, done) => {
    if (payload instanceof EventStream) payload.send(reply, done);
    else done(null, payload);
  };
  app.addHook('onRoute', (route) => {
    route.onSend = [...[route.onSend ?? []].flat(), sendEventStream];
  });
}

interface EventStreamOptions {
  /** Aborted at the end of the stream. */
  readonly stopping: AbortController;
  /** Runs every 15 s, and ends the stream by an error. */
  readonly check: () => Promise<unknown>;
  /** Counts what is being written. */
  readonly bytes: ByteShares;
  /** Called once, when the stream is over. */
  readonly onClose?: () => void;
}

/**
 * A response of events, sent no faster than the client reads them: the next one is requested once the previous one is
 * written, and a long one is written in slices. `disconnectSlowReaders` ends it for a client that reads too slowly. While nothing happens, a comment keeps the
 * connection open.
 *
 * It writes to the response itself: a stream that Fastify pipes costs 4 kB more for each idle reader (`bench -- streams`).
 */
export class EventStream {
  readonly #source: AwaitedEvents;
  readonly #request: FastifyRequest;
  readonly #options: EventStreamOptions;
  #checkedAt = performance.now();
  #isSending = false;
  #resolveWrite = () => {};

  constructor(events: EventSource, request: FastifyRequest, options: EventStreamOptions) {
    this.#source = new AwaitedEvents(events);
    this.#request = request;
    this.#options = options;
    // At once: the source may be silent for long.
    request.raw.socket.once('close', this.#leave);
  }

  /** @param refuse responds with an error that precedes the first event */
  send(reply: FastifyReply, refuse: (error: Error) => void): void {
    this.#isSending = true;
    if (this.#request.raw.socket.closed) this.#leave();
    this.#sendAll(reply)
      .catch((error: Error) => {
        if (!reply.sent && !this.#hasLeft) return refuse(error);
        // Nobody reads the rest of a stream that was left. A shutdown closes what it is read from.
        const level = this.#hasLeft ? 'debug' : 'warn';
        this.#request.log[level]({ err: error }, 'stream aborted');
        // The client sees only a response without its last chunk.
        reply.raw.destroy();
      })
      .finally(() => this.#close());
  }

  get #hasLeft(): boolean {
    return this.#options.stopping.signal.aborted;
  }

  readonly #leave = (): void => {
    this.#options.stopping.abort();
    this.#resolveWrite();
    if (!this.#isSending) this.#close();
  };

  #close(): void {
    const { stopping, onClose } = this.#options;
    this.#request.raw.socket.off('close', this.#leave);
    // First: the source waits for what the events wait for.
    stopping.abort();
    onClose?.();
    this.#source
      .close()
      .catch((error: unknown) => this.#request.log.warn({ err: error }, 'stream not closed'));
  }

  async #sendAll(reply: FastifyReply): Promise<void> {
    while (!this.#hasLeft && (await this.#sendNext(reply)));
  }

  /** False at the end. A function of its own: while the next event is awaited, nothing of the previous one is held. */
  async #sendNext(reply: FastifyReply): Promise<boolean> {
    const { raw } = reply;
    const slices = await this.#next();
    if (!reply.sent) {
      reply.hijack();
      raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders);
    }
    if (this.#hasLeft) return false;
    if (slices === null) {
      raw.end();
      return false;
    }
    let sent = 0;
    for (const slice of slices) {
      await this.#write(raw, slice);
      if (this.#hasLeft) return false;
      sent += slice.length;
      // A client that reads as fast as this writes must not keep the others waiting.
      if (sent < turnCharsMax) continue;
      sent = 0;
      await immediate();
    }
    return true;
  }

  /** An event, or a comment; null at the end. */
  async #next(): Promise<Iterable<string> | null> {
    const hasArrived = await this.#source.arrives(streamHeartbeatMs);
    if (!hasArrived || performance.now() - this.#checkedAt >= streamHeartbeatMs) {
      await this.#options.check().catch((error: unknown) => {
        // The next check decides: a short outage must not cost a paid answer.
        if (asCallFailure(error)?.code !== 'UNAVAILABLE') throw error;
      });
      this.#checkedAt = performance.now();
    }
    return hasArrived ? this.#source.take() : [':\n\n'];
  }

  /** Until it is written, or the client has left: a failed write closes the connection. */
  #write(raw: ServerResponse, text: string): Promise<void> {
    const free = this.#options.bytes.add(bytesOf(text));
    return new Promise((resolve) => {
      this.#resolveWrite = () => {
        free();
        resolve();
      };
      raw.write(text, (error) => {
        if (!error) this.#resolveWrite();
      });
    });
  }
}

type Arrived = IteratorResult<SentEvent, void> | { readonly error: unknown };

/**
 * The next event, awaited for any time at a constant cost: a race would add a reaction to the same promise each time. An idle
 * reader keeps nothing of the event before.
 */
class AwaitedEvents {
  readonly #events: EventSource;
  #isRequested = false;
  #arrived: Arrived | null = null;
  #wake = () => {};

  constructor(events: EventSource) {
    this.#events = events;
  }

  /** Whether it arrives within that time. Throws the error of the events. */
  async arrives(ms: number): Promise<boolean> {
    if (!this.#isRequested) this.#request();
    if (!this.#arrived) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = setTimeout(resolve, ms);
      await promise;
      clearTimeout(timer);
    }
    if (this.#arrived && 'error' in this.#arrived) throw this.#arrived.error;
    return this.#arrived !== null;
  }

  /** The text of the event that has arrived, in slices; null at the end. */
  take(): Iterable<string> | null {
    const arrived = this.#arrived;
    if (!arrived || 'error' in arrived) throw new Error('No event has arrived.');
    this.#arrived = null;
    this.#isRequested = false;
    return arrived.done ? null : slicesOf(arrived.value);
  }

  async close(): Promise<void> {
    await this.#events.return();
  }

  #request(): void {
    this.#isRequested = true;
    const arrive = (arrived: Arrived) => {
      this.#arrived = arrived;
      this.#wake();
    };
    this.#events.next().then(arrive, (error: unknown) => arrive({ error }));
  }
}

function slicesOf({ event, id, data }: SentEvent): Iterable<string> {
  const fields = `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}`;
  return jsonSlices(data, `${fields}data: `, '\n\n');
}
