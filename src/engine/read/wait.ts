const pollMs = 1_000;

/**
 * Callers whose request waits for an execution or a workflow run to end. An end in this process or a notification from
 * another one wakes them at once. A poll every second finds ends whose notification was lost.
 */
export interface Waiters {
  /** Resolves when it ends, when the time is up or when the signal aborts. The caller then reads the record. */
  wait(id: string, timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** Wakes the callers that wait for one of these. */
  wake(ids: readonly string[]): void;
  /** Wakes all, for shutdown. */
  close(): void;
  /** Whether the process shuts down: waits then end at once. */
  readonly closed: boolean;
}

export function createWaiters(deps: {
  readonly findEnded: (ids: readonly string[]) => Promise<string[]>;
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
      wake(await deps.findEnded([...waiting.keys()]));
    } catch (error) {
      deps.onError(error);
    } finally {
      polling = false;
    }
  }

  function wake(ids: readonly string[]): void {
    for (const id of ids) for (const resolve of waiting.get(id) ?? []) resolve();
  }

  return {
    wait(id, timeoutMs, signal) {
      return new Promise((resolve) => {
        const finish = () => {
          clearTimeout(timeout);
          signal.removeEventListener('abort', finish);
          const others = waiting.get(id);
          others?.delete(finish);
          if (others?.size === 0) waiting.delete(id);
          resolve();
        };
        const timeout = setTimeout(finish, timeoutMs);
        if (signal.aborted || closed) return finish();
        signal.addEventListener('abort', finish);
        waiting.set(id, (waiting.get(id) ?? new Set()).add(finish));
      });
    },
    wake,
    get closed() {
      return closed;
    },
    close() {
      closed = true;
      clearInterval(timer);
      for (const all of [...waiting.values()]) for (const resolve of [...all]) resolve();
    },
  };
}
