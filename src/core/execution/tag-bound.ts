/**
 * From which tag on to look for runs that wait. The entries of runs that are gone stay in the index for as long as any
 * transaction in the whole database may still see them; without a bound, one forgotten session would make every claim
 * walk over a million of them.
 *
 * A run's tag is above the lowest tag that waited when it was given, and a run is there as soon as its transaction has
 * committed. So below the lowest tag that waited a while ago comes nothing new, but from a transaction that has taken
 * longer than that while. Who uses a bound must therefore look without one now and then.
 */
export interface TagBound {
  /**
   * What was seen at `atMs`: the lowest tag that waited, or the virtual time of the clock where none did. Times are the
   * process's own, in milliseconds, and do not fall.
   */
  saw(lowestTag: number, atMs: number): void;
  /** The bound for runs whose transactions take at most `spanMs`; 0 where so long a span has not been seen yet. */
  over(spanMs: number, nowMs: number): number;
}

/** Sightings closer to each other than this are kept as one. */
const stepMs = 250;
const keptMs = 60_000;

export function tagBound(): TagBound {
  /** Oldest first; `lowestTag` of all sightings up to `untilMs`. */
  let seen: { readonly sinceMs: number; untilMs: number; lowestTag: number }[] = [];
  return {
    saw(lowestTag, atMs) {
      const last = seen.at(-1);
      if (last && atMs - last.sinceMs < stepMs) {
        last.untilMs = atMs;
        last.lowestTag = Math.min(last.lowestTag, lowestTag);
        return;
      }
      seen.push({ sinceMs: atMs, untilMs: atMs, lowestTag });
      // The last one before the span is needed, too.
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
