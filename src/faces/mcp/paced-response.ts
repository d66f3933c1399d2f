import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';

/**
 * The body of a response that the library writes as fast as it gets messages. Progress is reported only
 * once the client has read what was written before: it would be held for a client that does not read.
 */
export class PacedResponse {
  #isReady = true;
  #isOver = false;
  readonly #waiting = new Set<() => void>();

  /** Until the client has read what was written before, or the signal aborts. */
  async ready(signal: AbortSignal): Promise<void> {
    while (!this.#isReady && !this.#isOver && !signal.aborted) await this.#change(signal);
    this.#isReady = false;
  }

  /** The body in slices, each read once the previous one is sent. */
  read(body: ReadableStream<Uint8Array>): Readable {
    const reader = body.getReader();
    const stream = Readable.from(this.#slices(reader), { objectMode: false, highWaterMark: 0 });
    stream.once('close', () => {
      this.#isOver = true;
      this.#wake();
      // A stream that is closed before its end has nothing to cancel any more if the library has closed it as well.
      reader.cancel().catch(() => {});
    });
    return stream;
  }

  async *#slices(reader: ReadableStreamDefaultReader<Uint8Array>) {
    for (;;) {
      this.#isReady = true;
      this.#wake();
      const { value, done } = await reader.read();
      if (done) return;
      for (let from = 0; from < value.length; from += sliceBytesMax) {
        yield value.subarray(from, from + sliceBytesMax);
      }
    }
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        signal.removeEventListener('abort', wake);
        this.#waiting.delete(wake);
        resolve();
      };
      signal.addEventListener('abort', wake);
      this.#waiting.add(wake);
    });
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}

const sliceBytesMax = 65_536;
