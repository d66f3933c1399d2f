/** Keeps the values that were used last, at most `max` of them. */
export class Recent<T> {
  readonly #values = new Map<string, T>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** The value of that key, made where it is not kept. */
  get(key: string, make: () => T): T {
    const value = this.#values.get(key) ?? make();
    // A map remembers the order of insertion: what is used goes to its end, what is at its beginning is dropped.
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size > this.#max) {
      for (const [oldest] of this.#values) {
        this.#values.delete(oldest);
        break;
      }
    }
    return value;
  }

  values(): T[] {
    return [...this.#values.values()];
  }

  drop(key: string): void {
    this.#values.delete(key);
  }
}
