import { LruCache } from '../../core/lru-cache.ts';
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

/** In characters. */
const cachedMax = 33_554_432;
/** The overhead of one cache entry, in characters. */
const entryChars = 500;

export function valueCache(): ValueCache {
  const cache = new LruCache<RunValues>(cachedMax, charsOf);
  return {
    of: (runId) => cache.get(runId) ?? noValues,
    add: (runId, values) => cache.set(runId, merged(cache.get(runId) ?? noValues, values)),
    forget: (runId) => cache.delete(runId),
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

/** Twice the length of the texts: a document also caches an index. */
function charsOf({ input, outputs, lists }: RunValues): number {
  const all: (Document | null)[] = [input, ...outputs.values(), ...lists.values()];
  return all.reduce((sum, one) => sum + 2 * (one?.json.length ?? 0), entryChars);
}
