/** As many dispatchers as the calls under way need, none of them with more than `dispatcherCallsMax`. */
export interface Dispatchers<Dispatcher> {
  /** Lends the first that has room, so that connections are used again. */
  through<T>(work: (dispatcher: Dispatcher) => Promise<T>): Promise<T>;
  /** Cuts what is still in flight; a call that comes later fails as one that was cut. */
  close(): Promise<void>;
}

/**
 * A dispatcher of undici looks through all its connections whenever one is made or closed. That grows with their square:
 * ten thousand, closed together, held a process up for fifteen seconds, so that it lost its lease and made its calls anew.
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
    async through(work) {
      const one = withRoom();
      one.calls++;
      try {
        return await work(one.dispatcher);
      } finally {
        one.calls--;
      }
    },
    async close() {
      closed = true;
      await Promise.all(all.map(({ dispatcher }) => dispatcher.destroy()));
    },
  };
}
