import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { ResponseSlot } from '../limits/response-slots.ts';

/**
 * A response that is generated no faster than its client reads it: the next text is generated once the previous one is sent.
 * It is aborted when its slot goes to another workspace, and releases the slot at its end. `disconnectSlowReaders` ends it for
 * a client that reads too slowly.
 */
export function streamOf(
  texts: AsyncGenerator<string, void, undefined>,
  { log }: FastifyRequest,
  { kind, signal, release }: ResponseSlot,
): Readable {
  const stream = Readable.from(texts, { objectMode: false, highWaterMark: 0 });
  signal.addEventListener('abort', () => stream.destroy(signal.reason));
  stream.once('close', release);
  // The client sees only a response without its last chunk.
  stream.once('error', (error) => log.warn({ err: error }, `${kind} aborted`));
  return stream;
}

/** The body of a response to HEAD, whose length is unknown. */
export function emptyStream(): Readable {
  return Readable.from([]);
}
