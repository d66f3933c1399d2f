/** As many dispatchers as the calls in flight need, each with at most `dispatcherCallsMax`. */
export interface Dispatchers<Dispatcher> {
  /**
   * Uses the first dispatcher with room, so that connections are reused. Work that continues after its promise keeps
   * its slot until it calls what `acquire` returned.
   */
  dispatch<T>(work: (dispatcher: Dispatcher, acquire: () => () => void) => Promise<T>): Promise<T>;
  /** Aborts calls in flight; later calls fail as if aborted. */
  close(): Promise<void>;
}

/**
 * An undici dispatcher walks all its connections whenever one opens or closes, which is quadratic: closing ten thousand
 * at once blocked a process for fifteen seconds, so that it lost its lease and repeated its calls.
 */
export const dispatcherCallsMax = 200;

export function dispatchers<Dispatcher extends { destroy(): Promise<void> }>(
  make: () => Dispatcher,
): Dispatchers<Dispatcher> {
  const all: { readonly dispatcher: Dispatcher; calls: number }[] = [];
  let closed = false;

  function withRoom() {
    const found = all.find(({ calls }) => calls < dispatcherCallsMax);
    if (found) return found;
    const one = { dispatcher: make(), calls: 0 };
    if (closed) void one.dispatcher.destroy();
    all.push(one);
    return one;
  }

  return {
    async dispatch(work) {
      const one = withRoom();
      const acquire = () => {
        one.calls++;
        return () => void one.calls--;
      };
      const release = acquire();
      try {
        return await work(one.dispatcher, acquire);
      } finally {
        release();
      }
    },
    async close() {
      closed = true;
      await Promise.all(all.map(({ dispatcher }) => dispatcher.destroy()));
    },
  };
}
