/** Sees to what nobody sees to any more, once a second in every process that works; a sweep that takes longer delays the next. */
export function startSweep(parts: {
  readonly sweep: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}): { stop(): Promise<void> } {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> = Promise.resolve();
  schedule();

  function schedule(): void {
    if (stopped) return;
    // Several processes are not to sweep at the same moment for ever.
    timer = setTimeout(
      () => {
        sweeping = parts.sweep().catch(parts.onError).finally(schedule);
      },
      everyMs * (0.8 + Math.random() * 0.4),
    );
    timer.unref();
  }

  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await sweeping;
    },
  };
}

const everyMs = 1_000;
