import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { streamMsMax } from '../contract/limits.ts';

/** Texts as an answer that is written no faster than it is taken, and broken off with this error beyond its time. */
export function streamOf(
  texts: AsyncGenerator<string, void, undefined>,
  { log }: FastifyRequest,
  tooSlow: () => Error,
): Readable {
  const stream = Readable.from(texts, { objectMode: false, highWaterMark: 1 });
  // Also where nobody takes anything, and so nothing is read that could look at the time.
  const timer = setTimeout(() => stream.destroy(tooSlow()), streamMsMax);
  stream.once('close', () => clearTimeout(timer));
  // Whoever reads it sees only that it was cut off.
  stream.once('error', (error) => log.warn({ err: error }, 'broken off'));
  return stream;
}

/** What HEAD is answered in its place: nothing, and not that this would be the length of it. */
export function emptyStream(): Readable {
  return Readable.from([]);
}
