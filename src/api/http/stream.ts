import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { streamMsMax } from '../../contract/limits.ts';
import type { StreamSlot } from './stream-slots.ts';

/**
 * Texts as an answer that is written no faster than it is taken, and broken off where its time is over or its slot is taken over. The slot is released at its
 * end.
 */
export function streamOf(
  texts: AsyncGenerator<string, void, undefined>,
  { log }: FastifyRequest,
  { kind, signal, release }: StreamSlot,
): Readable {
  const stream = Readable.from(texts, { objectMode: false, highWaterMark: 1 });
  // Also where nobody takes anything, and so nothing is read that could look at the time.
  const timer = setTimeout(() => stream.destroy(new Error('it is taken too slowly')), streamMsMax);
  signal.addEventListener('abort', () => stream.destroy(signal.reason));
  stream.once('close', () => {
    clearTimeout(timer);
    release();
  });
  // Whoever reads it sees only that it was cut off.
  stream.once('error', (error) => log.warn({ err: error }, `${kind} broken off`));
  return stream;
}

/** What HEAD is answered in its place: nothing, and not that this would be the length of it. */
export function emptyStream(): Readable {
  return Readable.from([]);
}
