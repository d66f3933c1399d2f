/** Closes what was opened, in reverse order. Node 22 has no `AsyncDisposableStack`. */
export class Closers {
  readonly #closers: (() => unknown)[] = [];

  defer(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** Closes everything, whatever fails. Throws the first failure. */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (let close = this.#closers.pop(); close; close = this.#closers.pop()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
