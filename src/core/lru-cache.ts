/**
 * A cache with LRU eviction. The sizes of its values, by default 1 each, add up to at most `max`, and those of one owner to
 * at most its share: an owner with many values evicts its own.
 */
export class LruCache<T> {
  readonly #entries = new Map<string, { readonly value: T; readonly size: number }>();
  readonly #max: number;
  readonly #sizeOf: (value: T) => number;
  readonly #share: Share<T> | null;
  readonly #sizes = new Map<string, number>();
  #size = 0;

  constructor(max: number, sizeOf: (value: T) => number = () => 1, share: Share<T> | null = null) {
    this.#max = max;
    this.#sizeOf = sizeOf;
    this.#share = share;
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
    this.#resize(value, size);
    if (this.#share) this.#evictWithin(this.#share, this.#share.ownerOf(value));
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#max) break;
      this.delete(oldest);
    }
  }

  #evictWithin({ ownerOf, max }: Share<T>, owner: string): void {
    for (const [oldest, { value }] of this.#entries) {
      if ((this.#sizes.get(owner) ?? 0) <= max) return;
      if (ownerOf(value) === owner) this.delete(oldest);
    }
  }

  #resize(value: T, change: number): void {
    this.#size += change;
    if (!this.#share) return;
    const owner = this.#share.ownerOf(value);
    const size = (this.#sizes.get(owner) ?? 0) + change;
    if (size === 0) this.#sizes.delete(owner);
    else this.#sizes.set(owner, size);
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
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#resize(entry.value, -entry.size);
    this.#entries.delete(key);
  }
}

/** What one owner may use of a cache. */
interface Share<T> {
  readonly max: number;
  readonly ownerOf: (value: T) => string;
}
