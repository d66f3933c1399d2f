import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { FastifyReply } from 'fastify';
import { type HandlerResponse, send } from './route.ts';

/** Server-sent events that are generated no faster than the client reads them. */

/** A comment after this long without an event keeps idle connections open. */
const heartbeatMs = 15_000;

/** A response with these events. */
export function eventStream(texts: AsyncIterable<string>): HandlerResponse & { body: Readable } {
  return {
    status: 200,
    body: Readable.from(withHeartbeats(texts), { objectMode: false, highWaterMark: 0 }),
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' },
  };
}

/** Resolves once the client has the events or has disconnected. */
export async function sendEvents(reply: FastifyReply, texts: AsyncIterable<string>): Promise<void> {
  const response = eventStream(texts);
  send(reply, response);
  await finished(response.body).catch(() => {});
}

async function* withHeartbeats(texts: AsyncIterable<string>): AsyncGenerator<string> {
  const iterator = texts[Symbol.asyncIterator]();
  // The headers leave with the first byte.
  yield ':\n\n';
  try {
    let next = iterator.next();
    for (;;) {
      const result = await within(next, heartbeatMs);
      if (result === null) yield ':\n\n';
      else if (result.done) return;
      else {
        yield result.value;
        next = iterator.next();
      }
    }
  } finally {
    await iterator.return?.();
  }
}

/** Null if it takes longer. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
