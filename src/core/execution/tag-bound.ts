/**
 * The lowest tag at which a claim starts to scan the ready index. Dead index entries remain as long as any transaction
 * in the database may still see them; without a bound, one forgotten session would make every claim scan a million of
 * them.
 *
 * A new execution's tag is above the lowest waiting tag at that moment, and it becomes visible at its commit. So
 * nothing new appears below the lowest tag of a while ago, except from a transaction that took longer than that.
 * Callers must therefore scan without a bound now and then.
 */
export interface TagBound {
  /**
   * Records an observation at `atMs`: the lowest waiting tag, or the virtual time of the clock if none waits. Times are
   * monotonic milliseconds of the process.
   */
  observe(lowestTag: number, atMs: number): void;
  /** The bound for transactions that take at most `spanMs`; 0 until a span of that length has been observed. */
  over(spanMs: number, nowMs: number): number;
}

/** Observations closer together than this are merged. */
const stepMs = 250;
const keptMs = 60_000;

export function tagBound(): TagBound {
  /** Oldest first; `lowestTag` of all observations up to `untilMs`. */
  let seen: { readonly sinceMs: number; untilMs: number; lowestTag: number }[] = [];
  return {
    observe(lowestTag, atMs) {
      const last = seen.at(-1);
      if (last && atMs - last.sinceMs < stepMs) {
        last.untilMs = atMs;
        last.lowestTag = Math.min(last.lowestTag, lowestTag);
        return;
      }
      seen.push({ sinceMs: atMs, untilMs: atMs, lowestTag });
      // The last one before the span is needed too.
      const first = seen.findLastIndex(({ untilMs }) => untilMs <= atMs - keptMs);
      if (first > 0) seen = seen.slice(first);
    },
    over(spanMs, nowMs) {
      const first = seen.findLastIndex(({ untilMs }) => untilMs <= nowMs - spanMs);
      if (first < 0) return 0;
      return Math.min(...seen.slice(first).map(({ lowestTag }) => lowestTag));
    },
  };
}
