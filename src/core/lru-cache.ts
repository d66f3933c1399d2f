/** A cache with LRU eviction. The sizes of its values, by default 1 each, add up to at most `max`. */
export class LruCache<T> {
  readonly #entries = new Map<string, { readonly value: T; readonly size: number }>();
  readonly #max: number;
  readonly #sizeOf: (value: T) => number;
  #size = 0;

  constructor(max: number, sizeOf: (value: T) => number = () => 1) {
    this.#max = max;
    this.#sizeOf = sizeOf;
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    // A map iterates in the order of insertion.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Does not store a value that is larger than the whole cache. */
  set(key: string, value: T): void {
    this.delete(key);
    const size = this.#sizeOf(value);
    if (size > this.#max) return;
    this.#entries.set(key, { value, size });
    this.#size += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#max) break;
      this.delete(oldest);
    }
  }

  getOrCreate(key: string, create: () => T): T {
    const cached = this.get(key);
    if (cached !== undefined) return cached;
    const value = create();
    this.set(key, value);
    return value;
  }

  values(): T[] {
    return [...this.#entries.values()].map(({ value }) => value);
  }

  delete(key: string): void {
    this.#size -= this.#entries.get(key)?.size ?? 0;
    this.#entries.delete(key);
  }
}
