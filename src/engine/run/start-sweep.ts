const everyMs = 1_000;

/** Sweeps about once a second in every worker process. A slow sweep delays the next one. */
export function startSweep(deps: {
  readonly sweep: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}): { stop(): Promise<void> } {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> = Promise.resolve();
  schedule();

  function schedule(): void {
    if (stopped) return;
    // Jitter keeps several processes from sweeping in step.
    timer = setTimeout(
      () => {
        sweeping = deps.sweep().catch(deps.onError).finally(schedule);
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
