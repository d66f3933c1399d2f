/**
 * When keys were last used: collected in memory and written now and then, so that a call costs no write and a key at
 * most one a minute. What a crash takes with it is a minute of that.
 */
export interface KeyUse {
  used(hash: string): void;
  flush(): Promise<void>;
  /** Writes what is left. */
  close(): Promise<void>;
}

const flushMs = 60_000;
/** Whoever makes up keys of the right form must not fill the memory: more than these are written sooner. */
const pendingMax = 10_000;

export function createKeyUse(deps: {
  readonly touch: (hashes: readonly string[]) => Promise<void>;
  readonly onError: (error: unknown) => void;
}): KeyUse {
  let pending = new Set<string>();
  let written = Promise.resolve();
  const timer = setInterval(() => void flush(), flushMs);
  timer.unref();

  function flush(): Promise<void> {
    const hashes = [...pending];
    pending = new Set();
    // One after the other: two at once could lock the same rows in different order.
    if (hashes.length > 0) written = written.then(() => deps.touch(hashes)).catch(deps.onError);
    return written;
  }

  return {
    used(hash) {
      pending.add(hash);
      if (pending.size >= pendingMax) void flush();
    },
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
