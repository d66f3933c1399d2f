import type { Document } from '../../core/workflow/document.ts';
import type { RunValues } from '../../core/workflow/run-state.ts';

/**
 * What runs hold that never changes while they go on, and that this process has read or committed itself: a list of a
 * thousand items must not be read a thousand times. Nothing is lost where it is forgotten: it is read again.
 */
export interface ValueCache {
  of(runId: string): RunValues;
  /** Only what is committed. */
  add(runId: string, values: RunValues): void;
  forget(runId: string): void;
}

/** How many characters are kept, of the runs that went on last. */
const keptCharsMax = 33_554_432;

export function valueCache(): ValueCache {
  const kept = new Map<string, { readonly values: RunValues; readonly chars: number }>();
  let chars = 0;

  function forget(runId: string): void {
    chars -= kept.get(runId)?.chars ?? 0;
    kept.delete(runId);
  }

  function keep(runId: string, values: RunValues): void {
    forget(runId);
    const own = charsOf(values);
    if (own > keptCharsMax) return;
    kept.set(runId, { values, chars: own });
    chars += own;
    for (const oldest of kept.keys()) {
      if (chars <= keptCharsMax) break;
      forget(oldest);
    }
  }

  return {
    of(runId) {
      const known = kept.get(runId);
      if (!known) return nothing;
      // The last to go.
      kept.delete(runId);
      kept.set(runId, known);
      return known.values;
    },
    add: (runId, values) => keep(runId, merged(kept.get(runId)?.values ?? nothing, values)),
    forget,
  };
}

/** Values of a run that were read one after the other. */
export function merged(one: RunValues, other: RunValues): RunValues {
  return {
    input: one.input ?? other.input,
    outputs: new Map([...other.outputs, ...one.outputs]),
    lists: new Map([...other.lists, ...one.lists]),
  };
}

export const nothing: RunValues = { input: null, outputs: new Map(), lists: new Map() };

/** Twice what the texts are long: what is looked for in them is kept with them. */
function charsOf({ input, outputs, lists }: RunValues): number {
  const all: (Document | null)[] = [input, ...outputs.values(), ...lists.values()];
  return all.reduce((sum, one) => sum + 2 * (one?.json.length ?? 0), entryChars);
}

/** What an entry takes besides. */
const entryChars = 500;
