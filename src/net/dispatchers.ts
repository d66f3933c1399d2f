/**
 * An undici dispatcher walks all its connections whenever one opens or closes, which is quadratic: closing ten thousand
 * at once blocked a process for fifteen seconds, so that it lost its lease and repeated its calls.
 */
export const dispatcherCallsMax = 200;

/** As many dispatchers as the calls in flight need, each with at most `dispatcherCallsMax`. */
export class Dispatchers<Dispatcher extends { destroy(): Promise<void> }> {
  readonly #make: () => Dispatcher;
  readonly #all: { readonly dispatcher: Dispatcher; calls: number }[] = [];
  #closed = false;

  constructor(make: () => Dispatcher) {
    this.#make = make;
  }

  /**
   * Uses the first dispatcher with room, so that connections are reused. Work that continues after its promise keeps
   * its slot until it calls what `acquire` returned.
   */
  async dispatch<T>(
    work: (dispatcher: Dispatcher, acquire: () => () => void) => Promise<T>,
  ): Promise<T> {
    const one = this.#withRoom();
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
  }

  /** Aborts calls in flight; later calls fail as if aborted. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#all.map(({ dispatcher }) => dispatcher.destroy()));
  }

  #withRoom() {
    const found = this.#all.find(({ calls }) => calls < dispatcherCallsMax);
    if (found) return found;
    const one = { dispatcher: this.#make(), calls: 0 };
    if (this.#closed) void one.dispatcher.destroy();
    this.#all.push(one);
    return one;
  }
}
