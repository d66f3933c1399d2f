import { AsyncLocalStorage } from 'node:async_hooks';
import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { type ByteShares, bytesOf } from '../../core/byte-shares.ts';
import { piecesOf } from '../../core/text-pieces.ts';
import type { ResponseSlot } from '../limits/response-slots.ts';

/**
 * A response that is generated no faster than its client reads it: the next text is generated once the previous one is sent.
 * It is aborted when its slot goes to another workspace, and releases the slot at its end. `disconnectSlowReaders` ends it for
 * a client that reads too slowly.
 */
export function streamOf(
  texts: AsyncGenerator<string, void, undefined>,
  { log }: FastifyRequest,
  { workspaceId, signal, release }: ResponseSlot,
  { kind, bytes }: StreamOptions,
): Readable {
  const stopping = new AbortController();
  const slices = slicesOf(texts, { bytes, workspaceId, signal: stopping.signal });
  // Later texts use connections of the same workspace as the first.
  const inContext = AsyncLocalStorage.snapshot();
  const source = {
    next: () => inContext(() => slices.next()),
    return: () => {
      // First: it may wait for room.
      stopping.abort();
      return slices.return();
    },
    [Symbol.asyncIterator]: () => source,
  };
  const stream = Readable.from(source, { objectMode: false, highWaterMark: 0 });
  signal.addEventListener('abort', () => stream.destroy(signal.reason));
  stream.once('close', release);
  // The client sees only a response without its last chunk.
  stream.once('error', (error) => log.warn({ err: error }, `${kind} aborted`));
  return stream;
}

interface StreamOptions {
  /** For the log: what is streamed. */
  readonly kind: 'export' | 'page' | 'results';
  /** Counts what is held until the client has it. */
  readonly bytes: ByteShares;
}

interface Holding {
  readonly bytes: ByteShares;
  readonly workspaceId: string;
  readonly signal: AbortSignal;
}

const sliceCharsMax = 65_536;

/** Counts each text until it is sent. Without room, it pauses with one text: the slots limit how many do. */
async function* slicesOf(
  texts: AsyncGenerator<string, void, undefined>,
  { bytes, workspaceId, signal }: Holding,
): AsyncGenerator<string, void, undefined> {
  for await (const text of texts) {
    const counted = await bytes.hold(workspaceId, bytesOf(text), signal);
    if (signal.aborted) return counted?.();
    // A shutdown ends pauses, but not the response.
    const free = counted ?? bytes.add(bytesOf(text));
    try {
      yield* piecesOf(text, sliceCharsMax);
    } finally {
      free();
    }
  }
}

/** The body of a response to HEAD, whose length is unknown. */
export function emptyStream(): Readable {
  return Readable.from([]);
}
