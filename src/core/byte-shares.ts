/**
 * Bytes that this process holds, shared between workspaces: for readers of streams, what a client has not read yet; for calls of
 * models, prompts and answers.
 *
 * Rules
 * - Long values need room. A workspace holds at most all but a tenth of the budget; one that holds nothing gets what it asks
 *   for, however long, because a long record could otherwise never be read.
 * - Who has no room pauses, and holds nothing: what it needs is read or rendered once there is room. The workspace that holds
 *   least is served first, its requests in the order of their arrival.
 * - Readers of one value hold it together: it counts once.
 * - What is short counts, but nobody pauses for it: a small record, and what is being written to a socket.
 *
 * Room comes free: a client that reads too slowly is disconnected (`disconnectSlowReaders`), and a call has a deadline.
 */

/** Frees the bytes. Calling it again has no effect. */
export type FreeBytes = () => void;

interface Paused {
  readonly bytes: number;
  /** With null, it gives up. */
  readonly resume: (free: FreeBytes | null) => void;
}

interface Shared {
  readers: number;
  readonly free: FreeBytes;
}

export class ByteShares {
  readonly max: number;
  readonly workspaceMax: number;
  /** Long values, by workspace. */
  readonly #used = new Map<string, number>();
  readonly #paused = new Map<string, Set<Paused>>();
  readonly #shared = new WeakMap<object, Shared>();
  #total = 0;
  #closed = false;

  constructor(max: number) {
    this.max = max;
    this.workspaceMax = max - Math.ceil(max / 10);
  }

  /** With what is being written. */
  get used(): number {
    return this.#total;
  }

  /** Readers that wait for room. */
  get paused(): number {
    return this.#paused.values().reduce((sum, { size }) => sum + size, 0);
  }

  /** Counts what is short. */
  add(bytes: number): FreeBytes {
    this.#total += bytes;
    return once(() => {
      this.#total -= bytes;
      if (this.#paused.size > 0) this.#resume();
    });
  }

  /**
   * Null if there is no room, or others wait for it.
   * @param value what is held, if several readers may share it
   */
  tryHold(workspaceId: string, bytes: number, value: object | null = null): FreeBytes | null {
    const shared = value && this.#shared.get(value);
    if (shared) return this.#join(value, shared);
    if (bytes <= shortBytesMax) return this.add(bytes);
    if (this.#paused.has(workspaceId) || !this.#hasRoom(workspaceId, bytes)) return null;
    const free = this.#hold(workspaceId, bytes);
    return value ? this.share(value, free) : free;
  }

  /** Lets other readers of a value join the one that holds its bytes. */
  share(value: object, free: FreeBytes): FreeBytes {
    const known = this.#shared.get(value);
    if (known) free();
    const shared = known ?? { readers: 0, free };
    this.#shared.set(value, shared);
    return this.#join(value, shared);
  }

  /** Waits for room. Null if the signal aborts first, or the process shuts down. */
  hold(workspaceId: string, bytes: number, signal: AbortSignal): Promise<FreeBytes | null> {
    if (signal.aborted || this.#closed) return Promise.resolve(null);
    const free = this.tryHold(workspaceId, bytes);
    if (free) return Promise.resolve(free);
    return new Promise((resolve) => {
      const own = this.#paused.get(workspaceId) ?? new Set();
      const resume = (granted: FreeBytes | null) => {
        signal.removeEventListener('abort', leave);
        own.delete(paused);
        if (own.size === 0) this.#paused.delete(workspaceId);
        resolve(granted);
      };
      const leave = () => {
        resume(null);
        // Those behind it may need less.
        this.#resume();
      };
      const paused: Paused = { bytes, resume };
      signal.addEventListener('abort', leave);
      this.#paused.set(workspaceId, own.add(paused));
    });
  }

  /** Ends all pauses, for shutdown. */
  close(): void {
    this.#closed = true;
    for (const { resume } of [...this.#paused.values()].flatMap((own) => [...own])) resume(null);
  }

  #hold(workspaceId: string, bytes: number): FreeBytes {
    const change = (by: number) => {
      this.#total += by;
      const used = (this.#used.get(workspaceId) ?? 0) + by;
      if (used > 0) this.#used.set(workspaceId, used);
      else this.#used.delete(workspaceId);
    };
    change(bytes);
    return once(() => {
      change(-bytes);
      this.#resume();
    });
  }

  #join(value: object, shared: Shared): FreeBytes {
    shared.readers++;
    return once(() => {
      shared.readers--;
      if (shared.readers > 0) return;
      this.#shared.delete(value);
      shared.free();
    });
  }

  #hasRoom(workspaceId: string, bytes: number): boolean {
    const own = this.#used.get(workspaceId) ?? 0;
    if (own === 0) return true;
    return own + bytes <= this.workspaceMax && this.#total + bytes <= this.max;
  }

  #resume(): void {
    const used = (workspaceId: string) => this.#used.get(workspaceId) ?? 0;
    const byUse = [...this.#paused.keys()].toSorted((one, other) => used(one) - used(other));
    for (const workspaceId of byUse) {
      for (const { bytes, resume } of this.#paused.get(workspaceId) ?? []) {
        if (!this.#hasRoom(workspaceId, bytes)) break;
        resume(this.#hold(workspaceId, bytes));
      }
    }
  }
}

function once(free: () => void): FreeBytes {
  let isCounted = true;
  return () => {
    if (isCounted) {
      isCounted = false;
      free();
    }
  };
}

/** Up to this, nobody pauses. */
const shortBytesMax = 32_768;

/** The memory of the texts in a value, at two bytes for each character. */
export function bytesOf(value: unknown): number {
  if (typeof value === 'string') return 2 * value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, each) => sum + bytesOf(each), 0);
}
