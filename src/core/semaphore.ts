/** Permits that are acquired in the order of asking. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(permits: number) {
    this.#free = permits;
  }

  /** How many wait for a permit. */
  get waiting(): number {
    return this.#waiting.length;
  }

  get isFree(): boolean {
    return this.#free > 0;
  }

  /** Resolves with false if no permit was released within the time. Without a time it waits for as long as it takes. */
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
