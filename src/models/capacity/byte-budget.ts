/** Limits the bytes that calls hold at once: each reserves what it may need, and waits in order while there is no room. */
export class ByteBudget {
  readonly #bytesMax: number;
  readonly #waiting: { readonly bytes: number; readonly start: () => void }[] = [];
  #reserved = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** @param bytes at most the whole budget; the reservation must be released */
  async reserve(bytes: number, signal: AbortSignal): Promise<Reservation> {
    signal.throwIfAborted();
    if (this.#waiting.length > 0 || this.#reserved + bytes > this.#bytesMax) {
      await this.#wait(bytes, signal);
    } else this.#reserved += bytes;
    let reserved = bytes;
    const shrinkTo = (left: number) => {
      this.#reserved -= Math.max(0, reserved - left);
      reserved = Math.min(reserved, left);
      this.#startWaiting();
    };
    return { shrinkTo, release: () => shrinkTo(0) };
  }

  #wait(bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const entry = {
        bytes,
        start: () => {
          signal.removeEventListener('abort', abort);
          resolve();
        },
      };
      const abort = () => {
        this.#waiting.splice(this.#waiting.indexOf(entry), 1);
        reject(signal.reason);
        this.#startWaiting();
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.push(entry);
    });
  }

  #startWaiting(): void {
    for (;;) {
      const [next] = this.#waiting;
      if (!next || this.#reserved + next.bytes > this.#bytesMax) return;
      this.#waiting.shift();
      this.#reserved += next.bytes;
      next.start();
    }
  }
}

export interface Reservation {
  shrinkTo(bytes: number): void;
  release(): void;
}
