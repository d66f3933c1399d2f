/** Notes which keys were used, all of a while in one statement: a call must not cost a write for that. */
export interface KeyUse {
  note(hash: Buffer): void;
  /** Writes what is still to be written. */
  stop(): Promise<void>;
}

const everyMs = 30_000;

export function noteKeyUse(parts: {
  readonly touch: (hashes: readonly Buffer[]) => Promise<void>;
  readonly onError: (error: unknown) => void;
}): KeyUse {
  const used = new Map<string, Buffer>();
  let writing = Promise.resolve();
  const timer = setInterval(write, everyMs);
  timer.unref();

  function write(): void {
    if (used.size === 0) return;
    const hashes = [...used.values()];
    used.clear();
    // One after the other. What fails is let go: it was only a note, and the key will be used again.
    writing = writing.then(() => parts.touch(hashes)).catch(parts.onError);
  }

  return {
    note: (hash) => void used.set(hash.toString('base64'), hash),
    async stop() {
      clearInterval(timer);
      write();
      await writing;
    },
  };
}
