/** A counting semaphore; permits are granted in the order of requests. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(permits: number) {
    this.#free = permits;
  }

  /** The number of waiting callers. */
  get waiting(): number {
    return this.#waiting.length;
  }

  get isFree(): boolean {
    return this.#free > 0;
  }

  /** Resolves with false if no permit becomes free within `timeoutMs`; null waits without limit. */
  acquire(timeoutMs: number | null = null): Promise<boolean> {
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const grant = () => {
        if (timer !== null) clearTimeout(timer);
        resolve(true);
      };
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(grant), 1);
        resolve(false);
      };
      const timer = timeoutMs === null ? null : setTimeout(giveUp, timeoutMs);
      this.#waiting.push(grant);
    });
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }
}
