const maintenanceEveryMs = 15 * 60_000;
const roundEveryMs = 60_000;
const indexEveryMs = 5_000;

/** Ends early when its signal aborts. */
export type RunRound = (signal: AbortSignal) => Promise<void>;

/**
 * Background maintenance in every worker process: `maintain` at startup and every quarter of an hour, each round every
 * minute, and the search index every few seconds.
 */
export function startMaintenance(deps: {
  readonly maintain: () => Promise<void>;
  readonly writeIndex: RunRound;
  /** Each has its own timer, so a long one does not delay the others. */
  readonly rounds: Readonly<Record<string, RunRound>>;
  readonly onError: (error: unknown, operation: string) => void;
}): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const jobs = [
    every(maintenanceEveryMs, 'maintenance', deps.maintain),
    every(indexEveryMs, 'search index', () => deps.writeIndex(stopping.signal)),
    ...Object.entries(deps.rounds).map(([name, startRound]) =>
      every(roundEveryMs, name, () => startRound(stopping.signal)),
    ),
  ];

  /** Never overlaps: a run that takes longer than the interval skips ticks. */
  function every(intervalMs: number, name: string, work: () => Promise<void>) {
    let idle = true;
    const once = async () => {
      idle = false;
      await work().catch((error: unknown) => deps.onError(error, name));
      idle = true;
    };
    let current = once();
    const timer = setInterval(() => {
      if (idle) current = once();
    }, intervalMs);
    timer.unref();
    return { timer, current: () => current };
  }

  return {
    async stop() {
      stopping.abort();
      for (const { timer } of jobs) clearInterval(timer);
      await Promise.all(jobs.map(({ current }) => current()));
    },
  };
}
