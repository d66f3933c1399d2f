/**
 * Keeps the house of the store, in every process that works: the small things at start and every quarter of an hour, and
 * every minute the rounds that take records away.
 */
export function startMaintenance(parts: {
  readonly maintain: () => Promise<void>;
  /** Each ends early when the signal says so. Apart, since what one takes long for must not hold up the other. */
  readonly rounds: Readonly<Record<string, (signal: AbortSignal) => Promise<void>>>;
  readonly onError: (error: unknown, what: string) => void;
}): { stop(): Promise<void> } {
  const ending = new AbortController();
  const chores = [
    every(15 * 60_000, 'maintenance', parts.maintain),
    ...Object.entries(parts.rounds).map(([what, makeRound]) =>
      every(60_000, what, () => makeRound(ending.signal)),
    ),
  ];

  /** One after the other: where one takes longer than the time between two, the next ones are left out. */
  function every(everyMs: number, what: string, work: () => Promise<void>) {
    let idle = true;
    const once = async () => {
      idle = false;
      await work().catch((error: unknown) => parts.onError(error, what));
      idle = true;
    };
    let running = once();
    const timer = setInterval(() => {
      if (idle) running = once();
    }, everyMs);
    timer.unref();
    return { timer, running: () => running };
  }

  return {
    async stop() {
      ending.abort();
      for (const { timer } of chores) clearInterval(timer);
      await Promise.all(chores.map(({ running }) => running()));
    },
  };
}
