import { waitsMax, waitsOfCallerMax } from '../../../contract/limits.ts';

/** Limits what is open for each caller and in the process: long polls, readers of streams, uploads. */
export interface CallerSlots {
  /** Returns the release function; null above either limit. */
  acquire(callerId: string): (() => void) | null;
}

export function createCallerSlots(
  { max, ofCallerMax } = { max: waitsMax, ofCallerMax: waitsOfCallerMax },
): CallerSlots {
  const used = new Map<string, number>();
  let total = 0;
  return {
    acquire(callerId) {
      const own = used.get(callerId) ?? 0;
      if (own >= ofCallerMax || total >= max) return null;
      used.set(callerId, own + 1);
      total++;
      return () => {
        const left = (used.get(callerId) ?? 1) - 1;
        if (left > 0) used.set(callerId, left);
        else used.delete(callerId);
        total--;
      };
    },
  };
}
