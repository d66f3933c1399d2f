/** Work that is done after wake-ups, never twice at the same time. */
export interface WakeLoop {
  /** Starts the work. During the work, it is repeated afterwards. */
  wake(): void;
  /** Resolves once no work is in progress. */
  settled(): Promise<void>;
  /** No work starts any more. Resolves like `settled`. */
  stop(): Promise<void>;
  readonly stopped: boolean;
}

export function createWakeLoop(
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): WakeLoop {
  let again = false;
  let stopped = false;
  let round: Promise<void> | null = null;

  async function run(): Promise<void> {
    while (again && !stopped) {
      again = false;
      await work();
    }
  }

  function wake(): void {
    again = true;
    if (stopped) return;
    round ??= run()
      .catch(onError)
      .finally(() => {
        round = null;
        if (again) wake();
      });
  }

  async function settled(): Promise<void> {
    await round;
  }

  return {
    wake,
    settled,
    stop() {
      stopped = true;
      return settled();
    },
    get stopped() {
      return stopped;
    },
  };
}
