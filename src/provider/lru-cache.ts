/** At most `max` values; evicts the one that was used least recently. */
export class LruCache<T> {
  readonly #values = new Map<string, T>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** Creates the value if it is not cached. */
  getOrCreate(key: string, create: () => T): T {
    const value = this.#values.get(key) ?? create();
    // A map iterates in the order of insertion.
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size > this.#max) {
      const [oldest = ''] = this.#values.keys();
      this.#values.delete(oldest);
    }
    return value;
  }

  values(): T[] {
    return [...this.#values.values()];
  }

  delete(key: string): void {
    this.#values.delete(key);
  }
}
