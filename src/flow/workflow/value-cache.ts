import type { Document } from '../../core/workflow/document.ts';
import type { RunValues } from '../../core/workflow/run-state.ts';

/**
 * Values of workflow runs that never change while they advance: input, step outputs, fan-out lists. This process has read
 * or committed them itself. Without the cache, a list of a thousand items would be read a thousand times. Evicted values
 * are read again.
 */
export interface ValueCache {
  of(runId: string): RunValues;
  /** Only committed values. */
  add(runId: string, values: RunValues): void;
  forget(runId: string): void;
}

const cachedCharsMax = 33_554_432;
/** The overhead of one cache entry, in characters. */
const entryChars = 500;

/** LRU eviction by characters. */
export function valueCache(): ValueCache {
  const cached = new Map<string, { readonly values: RunValues; readonly chars: number }>();
  let chars = 0;

  function forget(runId: string): void {
    chars -= cached.get(runId)?.chars ?? 0;
    cached.delete(runId);
  }

  function put(runId: string, values: RunValues): void {
    forget(runId);
    const own = charsOf(values);
    if (own > cachedCharsMax) return;
    cached.set(runId, { values, chars: own });
    chars += own;
    for (const oldest of cached.keys()) {
      if (chars <= cachedCharsMax) break;
      forget(oldest);
    }
  }

  return {
    of(runId) {
      const known = cached.get(runId);
      if (!known) return noValues;
      cached.delete(runId);
      cached.set(runId, known);
      return known.values;
    },
    add: (runId, values) => put(runId, merged(cached.get(runId)?.values ?? noValues, values)),
    forget,
  };
}

/** Values of one workflow run from two reads. */
export function merged(one: RunValues, other: RunValues): RunValues {
  return {
    input: one.input ?? other.input,
    outputs: new Map([...other.outputs, ...one.outputs]),
    lists: new Map([...other.lists, ...one.lists]),
  };
}

export const noValues: RunValues = { input: null, outputs: new Map(), lists: new Map() };

/** Twice the length of the texts: a document also caches what was searched in it. */
function charsOf({ input, outputs, lists }: RunValues): number {
  const all: (Document | null)[] = [input, ...outputs.values(), ...lists.values()];
  return all.reduce((sum, one) => sum + 2 * (one?.json.length ?? 0), entryChars);
}
