/** Calls `onTimeout` once no response has arrived for `timeoutMs`. */
export class ResponseTimer {
  readonly #timeoutMs: number;
  readonly #onTimeout: () => void;
  #responses = 0;
  #stopped = false;
  #timer: NodeJS.Timeout;

  constructor(timeoutMs: number, onTimeout: () => void) {
    this.#timeoutMs = timeoutMs;
    this.#onTimeout = onTimeout;
    this.#timer = this.#start();
  }

  onResponse(): void {
    this.#responses++;
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /** Timers fire before sockets are read. If this process was blocked, the response may be waiting in the socket. */
  #start(): NodeJS.Timeout {
    return setTimeout(() => {
      const before = this.#responses;
      setImmediate(() => {
        if (this.#stopped) return;
        if (this.#responses > before) this.#timer = this.#start();
        else this.#onTimeout();
      });
    }, this.#timeoutMs);
  }
}
