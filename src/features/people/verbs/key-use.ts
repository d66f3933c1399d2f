const flushMs = 60_000;
/** Beyond this, uses are written early: made-up keys must not fill the memory. */
const pendingMax = 10_000;

/**
 * Records when keys were last used. Uses are collected in memory and written once a minute, so that calls cost no write. A
 * crash loses at most a minute of them.
 */
export class KeyUse {
  readonly #deps: KeyUseDeps;
  readonly #timer = setInterval(() => void this.flush(), flushMs).unref();
  #pending = new Set<string>();
  #written = Promise.resolve();

  constructor(deps: KeyUseDeps) {
    this.#deps = deps;
  }

  used(hash: string): void {
    this.#pending.add(hash);
    if (this.#pending.size >= pendingMax) void this.flush();
  }

  flush(): Promise<void> {
    const { touch, onError } = this.#deps;
    const hashes = [...this.#pending];
    this.#pending = new Set();
    // Serial: parallel writes could lock the same rows in different orders.
    if (hashes.length > 0) this.#written = this.#written.then(() => touch(hashes)).catch(onError);
    return this.#written;
  }

  /** Writes the remaining uses. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }
}

interface KeyUseDeps {
  readonly touch: (hashes: readonly string[]) => Promise<void>;
  readonly onError: (error: unknown) => void;
}
