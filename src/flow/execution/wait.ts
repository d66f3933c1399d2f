/**
 * Callers that hold their answer until a run ends. A run that ends here, or a hint from another process, wakes them
 * at once; a poll once a second finds what no hint told.
 */
export interface Waiters {
  /** Resolves when the run ends, the time is up or the signal says so; the caller then reads the record. */
  wait(executionId: string, timeoutMs: number, signal: AbortSignal): Promise<void>;
  ended(executionIds: readonly string[]): void;
  close(): void;
}

const pollMs = 1_000;

export function createWaiters(parts: {
  readonly findEndedExecutions: (executionIds: readonly string[]) => Promise<string[]>;
  readonly onError: (error: unknown) => void;
}): Waiters {
  const waiting = new Map<string, Set<() => void>>();
  let polling = false;
  let closed = false;
  const timer = setInterval(() => void poll(), pollMs);
  timer.unref();

  async function poll(): Promise<void> {
    if (polling || waiting.size === 0) return;
    polling = true;
    try {
      ended(await parts.findEndedExecutions([...waiting.keys()]));
    } catch (error) {
      parts.onError(error);
    } finally {
      polling = false;
    }
  }

  function ended(executionIds: readonly string[]): void {
    for (const id of executionIds) for (const wake of waiting.get(id) ?? []) wake();
  }

  return {
    wait(executionId, timeoutMs, signal) {
      return new Promise((resolve) => {
        const done = () => {
          clearTimeout(limit);
          signal.removeEventListener('abort', done);
          const others = waiting.get(executionId);
          others?.delete(done);
          if (others?.size === 0) waiting.delete(executionId);
          resolve();
        };
        const limit = setTimeout(done, timeoutMs);
        if (signal.aborted || closed) return done();
        signal.addEventListener('abort', done);
        waiting.set(executionId, (waiting.get(executionId) ?? new Set()).add(done));
      });
    },
    ended,
    close() {
      closed = true;
      clearInterval(timer);
      for (const all of [...waiting.values()]) for (const wake of [...all]) wake();
    },
  };
}
