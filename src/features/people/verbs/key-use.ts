/**
 * Records when keys were last used. Uses are collected in memory and written once a minute, so that calls cost no write. A
 * crash loses at most a minute of them.
 */
export interface KeyUse {
  used(hash: string): void;
  flush(): Promise<void>;
  /** Writes the remaining uses. */
  close(): Promise<void>;
}

const flushMs = 60_000;
/** Beyond this, uses are written early: made-up keys must not fill the memory. */
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
    // Serial: parallel writes could lock the same rows in different orders.
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
