/** Runs the housekeeping of the store at start and every quarter of an hour, in every process that works. */
export function keepHouse(parts: {
  readonly maintain: () => Promise<void>;
  readonly onError: (error: unknown, what: string) => void;
}): { stop(): Promise<void> } {
  const everyMs = 15 * 60_000;
  let running: Promise<void> = round();
  const timer = setInterval(() => {
    running = round();
  }, everyMs);
  timer.unref();

  async function round(): Promise<void> {
    try {
      await parts.maintain();
    } catch (error) {
      parts.onError(error, 'maintenance');
    }
  }

  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
