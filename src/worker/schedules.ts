/** Looks once a second which schedules are due, in every process that works. */
export function watchSchedules(parts: {
  /** Answers how many were moved on. */
  readonly fire: () => Promise<unknown>;
  readonly onError: (error: unknown, what: string) => void;
}): { stop(): Promise<void> } {
  let running: Promise<void> | null = null;
  const look = () => {
    // One after the other: where one takes longer, the next ones are left out.
    running ??= parts
      .fire()
      .then(() => {})
      .catch((error: unknown) => parts.onError(error, 'looking for due schedules'))
      .finally(() => {
        running = null;
      });
  };
  const timer = setInterval(look, everyMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

const everyMs = 1_000;
